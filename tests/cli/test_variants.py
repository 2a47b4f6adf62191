"""What a build makes of images: every option, and the pixels that come out, which are Pillow's."""
import io
import subprocess

import h5py
import numpy
import pytest
from PIL import Image, ImageOps

from imgpack_cli import (EXTENSIONS, FORMATS, MAKE_WRONG_RECORDS, files_below, imgpack, imgpack_json, make_images,
                         packed_bytes)


def noise(width, height, mode="RGB", seed=1):
    small = Image.effect_noise((max(1, width // 3), max(1, height // 3)), 60 + seed)
    channels = [small.resize((width, height), Image.Resampling.BICUBIC) for _ in Image.new(mode, (1, 1)).getbands()]
    return Image.merge(mode, [c.rotate(90 * i).resize((width, height)) for i, c in enumerate(channels)])


@pytest.fixture(scope="module")
def mixed(tmp_path_factory):
    """Files of every kind: {key: file} below the folder."""
    folder = make_images(tmp_path_factory.mktemp("mixed") / "images", classes=2, per_class=3)
    extra = folder / "train" / "n00000001"
    noise(61, 40).save(extra / "a.png")
    noise(40, 55).convert("P").save(extra / "palette.gif")
    noise(33, 34, "CMYK").save(extra / "cmyk.jpg", quality=90)
    noise(80, 52).save(extra / "progressive.jpg", progressive=True)
    noise(52, 36).save(extra / "b.bmp")
    noise(37, 39, "L").save(extra / "gray.jpg")
    turned = Image.Exif()
    turned[0x0112] = 6
    noise(70, 44).save(extra / "turned.jpg", exif=turned)
    if "webp" in Image.registered_extensions().get(".webp", "").lower():
        noise(44, 46).save(extra / "c.webp")
    return folder


def shown(file, upright=False):
    with Image.open(io.BytesIO(file)) as image:
        image = ImageOps.exif_transpose(image) if upright else image
        return image.convert("RGB")


def resized(image, n, mode="shorter", resample=Image.Resampling.BILINEAR):
    """As torchvision's Resize and CenterCrop on Pillow images."""
    width, height = image.size
    if mode == "exact":
        return image.resize((n, n), resample)
    side = max if mode == "longer" else min
    if side(width, height) == width:
        size = n, max(1, int(n * height / width))
    else:
        size = max(1, int(n * width / height)), n
    image = image.resize(size, resample) if size != image.size else image
    if mode == "center-crop":
        left, top = int(round((image.width - n) / 2.0)), int(round((image.height - n) / 2.0))
        image = image.crop((left, top, left + n, top + n))
    return image


def extracted_pixels(file, folder, kind="ppm"):
    """{key: (size, RGB bytes)} of all records, by `extract --pixels`."""
    imgpack("extract", file, folder, "--pixels", kind)
    found = {}
    for name, content in files_below(folder).items():
        assert name.endswith(b"." + kind.encode())
        with Image.open(io.BytesIO(content)) as image:
            assert image.mode == "RGB"
            found[name[:-len(kind) - 1]] = image.size, image.tobytes()
    return found


def check_pixels(file, expected, tmp_path, kind="ppm"):
    found = extracted_pixels(file, tmp_path / "pixels", kind)
    assert found.keys() == expected.keys()
    for key, image in expected.items():
        assert found[key][0] == image.size, key
        assert found[key][1] == image.tobytes(), key


def records_of(file):
    return {record["key"]: record for record in imgpack_json("ls", file)["records"]}


# What every variant is and holds

VARIANTS = [
    ([], {"encode": "keep"}),
    (["--encode", "keep"], {"encode": "keep"}),
    (["--no-index"], {"encode": "keep", "index": "no"}),
    (["--jpeg", "baseline"], {"encode": "keep", "jpeg": "baseline"}),
    (["--jpeg", "restart"], {"encode": "keep", "jpeg": "restart"}),
    (["--normalize"], {"encode": "keep", "normalize": "yes"}),
    (["--normalize", "--zstd", "5"], {"encode": "keep", "normalize": "yes", "zstd": "5"}),
    (["--encode", "raw"], {"encode": "raw"}),
    (["--encode", "raw", "--zstd", "3"], {"encode": "raw", "zstd": "3"}),
]


@pytest.mark.parametrize("options,transform", VARIANTS, ids=lambda value: " ".join(value) or "default")
def test_pixels_stay_pillows(options, transform, mixed, tmp_path):
    out = tmp_path / "out.rec"
    imgpack("build", mixed, out, *options)
    assert imgpack_json("info", out)["transform"] == transform
    assert imgpack_json("verify", out, "--decode")["good"] is True
    check_pixels(out, {key: shown(file) for key, file in files_below(mixed).items()}, tmp_path)


def test_codecs_of_variants(mixed, tmp_path):
    def codecs(*options):
        out = tmp_path / "out.rec"
        imgpack("build", mixed, out, "--overwrite", *options)
        return {key.rsplit("/", 1)[1]: record["codec"] for key, record in records_of(out).items()}
    kept = codecs()
    assert kept["a.png"] == "png" and kept["palette.gif"] == "gif" and kept["b.bmp"] == "bmp"
    assert set(codecs("--encode", "jpeg").values()) == {"jpeg"}
    assert set(codecs("--encode", "raw").values()) == {"raw_rgb8"}
    assert set(codecs("--encode", "raw", "--zstd", 1).values()) == {"raw_rgb8_zstd"}
    normal = codecs("--normalize")
    raw = {name for name, codec in normal.items() if codec == "raw_rgb8"}
    assert raw == {name for name, codec in kept.items() if codec != "jpeg"} | {"cmyk.jpg", "progressive.jpg"}
    normal = codecs("--normalize", "--jpeg", "baseline")
    assert normal["progressive.jpg"] == "jpeg" and normal["cmyk.jpg"] == "raw_rgb8"


@pytest.mark.parametrize("mode", ["shorter", "longer", "exact", "center-crop"])
@pytest.mark.parametrize("name", FORMATS)
def test_resized_pixels_are_pillows(name, mode, mixed, tmp_path):
    out = tmp_path / f"out.{EXTENSIONS[name]}"
    imgpack("build", mixed, out, "--encode", "raw", "--resize", 37, "--resize-mode", mode, "--upscale")
    expected = {key: resized(shown(file), 37, mode) for key, file in files_below(mixed).items()}
    check_pixels(out, expected, tmp_path)
    for key, record in records_of(out).items():
        assert (record["width"], record["height"]) == expected[key.encode()].size
        assert record["channels"] == 3 and record["codec"] == "raw_rgb8"
    assert imgpack_json("verify", out, "--decode")["good"] is True


@pytest.mark.parametrize("filter", ["nearest", "box", "bilinear", "hamming", "bicubic", "lanczos"])
def test_filters_are_pillows(filter, mixed, tmp_path):
    out = tmp_path / "out.rec"
    imgpack("build", mixed, out, "--encode", "raw", "--resize", 30, "--interpolation", filter, "--zstd", 1, "--upscale")
    resample = Image.Resampling[filter.upper()]
    check_pixels(out, {k: resized(shown(f), 30, resample=resample) for k, f in files_below(mixed).items()}, tmp_path)


def test_without_upscale_small_images_stay(mixed, tmp_path):
    imgpack("build", mixed, tmp_path / "out.rec", "--encode", "raw", "--resize", 45)
    expected = {}
    for key, file in files_below(mixed).items():
        image = shown(file)
        expected[key] = image if min(image.size) < 45 else resized(image, 45)
    check_pixels(tmp_path / "out.rec", expected, tmp_path)


def test_exif_orientation(mixed, tmp_path):
    out = tmp_path / "out.rec"
    imgpack("build", mixed, out, "--encode", "raw", "--apply-exif-orientation", "--resize", 30, "--upscale")
    assert imgpack_json("info", out)["transform"]["exif_orientation"] == "applied"
    expected = {key: resized(shown(file, upright=True), 30) for key, file in files_below(mixed).items()}
    check_pixels(out, expected, tmp_path)


def test_png_and_ppm_hold_the_same(mixed, tmp_path):
    imgpack("build", mixed, tmp_path / "out.rec")
    assert extracted_pixels(tmp_path / "out.rec", tmp_path / "ppm") == extracted_pixels(
        tmp_path / "out.rec", tmp_path / "png", "png")


def test_encoded_jpegs(mixed, tmp_path):
    def build(*options):
        imgpack("build", mixed, tmp_path / "out.rec", "--overwrite", "--encode", "jpeg", *options)
        assert imgpack_json("verify", tmp_path / "out.rec", "--decode")["good"] is True
        imgpack("extract", tmp_path / "out.rec", tmp_path / "dir", "--overwrite")
        return files_below(tmp_path / "dir")
    source = files_below(mixed)
    plain = build()
    for key, file in plain.items():
        kept = source[key][:2] == b"\xff\xd8" and b"cmyk" not in key
        assert (file == source[key]) == kept
    for options, layer in ((["--subsampling", "444"], (1, 1)), (["--subsampling", "422"], (2, 1)),
                           (["--subsampling", "420"], (2, 2))):
        for file in build("--quality", 70, *options).values():
            with Image.open(io.BytesIO(file)) as image:
                assert image.layer[0][1:3] == layer and image.mode == "RGB"
    assert sum(map(len, build("--quality", 40).values())) < sum(map(len, build("--quality", 95).values()))
    transform = imgpack_json("info", tmp_path / "out.rec")["transform"]
    assert transform == {"encode": "jpeg", "quality": "95", "subsampling": "420 where needed"}
    small = build("--resize", 24, "--resize-mode", "center-crop", "--upscale", "--quality", 100, "--subsampling", "444")
    for key, file in small.items():
        expected = resized(shown(source[key]), 24, "center-crop")
        assert shown(file).size == expected.size == (24, 24)
        assert abs(numpy.asarray(shown(file), int) - numpy.asarray(expected, int)).mean() < 2


@pytest.mark.parametrize("handling", ["baseline", "restart"])
def test_rewritten_jpegs_show_the_same(handling, mixed, tmp_path):
    imgpack("build", mixed, tmp_path / "out.rec", "--jpeg", handling)
    imgpack("extract", tmp_path / "out.rec", tmp_path / "dir")
    source = files_below(mixed)
    for key, file in files_below(tmp_path / "dir").items():
        if file[:2] != b"\xff\xd8":
            assert file == source[key]
            continue
        with Image.open(io.BytesIO(file)) as image:
            assert b"cmyk" in key or "progressive" not in image.info
        assert djpeg(file) == djpeg(source[key])


def djpeg(file):
    return subprocess.run(["djpeg", "-pnm"], input=file, stdout=subprocess.PIPE, check=True).stdout


def test_hdf5_array(mixed, tmp_path):
    if "hdf5" not in FORMATS:
        pytest.skip("built without HDF5")
    out = tmp_path / "out.h5"
    imgpack("build", mixed, out, "--encode", "raw", "--resize", 32, "--resize-mode", "center-crop", "--upscale")
    assert imgpack_json("info", out)["transform"]["raw_shape"] == "32x32"
    keys = list(records_of(out))
    with h5py.File(out) as file:
        images = file["images"][:]
    assert images.shape == (len(keys), 32, 32, 3)
    source = files_below(mixed)
    for key, image in zip(keys, images):
        assert image.tobytes() == resized(shown(source[key.encode()]), 32, "center-crop").tobytes()


# Wrong usage, and what cannot be done

@pytest.mark.parametrize("options,words", [
    (["--resize", "64"], ["resize", "jpeg or raw"]),
    (["--encode", "keep", "--resize", "64"], ["resize", "jpeg or raw"]),
    (["--apply-exif-orientation"], ["turned", "jpeg or raw"]),
    (["--zstd", "3"], ["zstd", "raw"]),
    (["--encode", "jpeg", "--zstd", "3"], ["zstd", "raw"]),
    (["--encode", "raw", "--resize-mode", "exact"], ["--resize-mode requires --resize"]),
    (["--encode", "raw", "--interpolation", "box"], ["--interpolation requires --resize"]),
    (["--encode", "raw", "--upscale"], ["--upscale requires --resize"]),
    (["--quality", "80"], ["quality", "jpeg"]),
    (["--encode", "raw", "--subsampling", "444"], ["subsampling", "jpeg"]),
    (["--encode", "raw", "--normalize"], ["normaliz", "raw"]),
    (["--encode", "jpeg", "--normalize"], ["normaliz", "jpeg"]),
    (["--encode", "raw", "--jpeg", "restart"], ["rewritten", "raw"]),
    (["--encode", "png"], ["--encode", "keep", "jpeg", "raw"]),
    (["--encode", "raw", "--resize", "0"], ["--resize"]),
    (["--encode", "raw", "--resize", "65501"], ["--resize", "65500"]),
    (["--encode", "raw", "--resize", "8", "--resize-mode", "cover"], ["--resize-mode", "center-crop"]),
    (["--encode", "jpeg", "--quality", "0"], ["--quality"]),
    (["--encode", "jpeg", "--subsampling", "411"], ["--subsampling"]),
    (["--encode", "raw", "--zstd", "23"], ["--zstd", "22"]),
    (["--jpeg", "progressive"], ["--jpeg", "baseline"]),
], ids=lambda value: " ".join(value))
@pytest.mark.parametrize("command", ["build", "convert"])
def test_contradictions(command, options, words, images, packed, tmp_path):
    done = imgpack(command, images if command == "build" else packed["rec"], tmp_path / "out.rec", *options, code=2)
    assert done.err.startswith("imgpack: ")
    for word in words:
        assert word in done.err
    assert not list(tmp_path.iterdir())


def test_too_small_images(images, tmp_path):
    options = ["--encode", "raw", "--resize", 60, "--resize-mode", "exact"]
    error = imgpack_json("build", images, tmp_path / "out.rec", *options, code=1)["error"]
    assert error["code"] == "refused" and error["file"] and "--upscale" in error["message"]
    report = imgpack_json("build", images, tmp_path / "out.rec", *options, "--on-error", "skip", "--overwrite", code=1)
    sizes = {key: shown(file).size for key, file in files_below(images).items()}
    assert {entry["key"].encode() for entry in report["left_out"]} == {k for k, s in sizes.items() if min(s) < 60}
    assert imgpack_json("build", images, tmp_path / "all.rec", *options, "--upscale")["records"] == len(sizes)


def test_raw_records_are_no_files(images, tmp_path):
    imgpack("build", images, tmp_path / "out.rec", "--encode", "raw", "--limit", 2)
    done = imgpack("extract", tmp_path / "out.rec", tmp_path / "dir", code=1)
    assert "--pixels png or ppm" in done.err
    key = next(iter(records_of(tmp_path / "out.rec")))
    assert "--pixels" in imgpack("extract", tmp_path / "out.rec", "-", "--key", key, code=1).err
    ppm = imgpack("extract", tmp_path / "out.rec", "-", "--key", key, "--pixels", "ppm").out
    assert ppm.startswith(b"P6\n") and files_below(tmp_path / "dir") == {}


def test_changed_bytes_are_not_compared_with_the_source(images, tmp_path):
    imgpack("build", images, tmp_path / "plain.rec", "--no-index")
    assert imgpack_json("verify", tmp_path / "plain.rec", "--source", images)["good"] is True
    for options in (["--encode", "raw"], ["--jpeg", "restart"], ["--normalize"]):
        imgpack("build", images, tmp_path / "out.rec", "--overwrite", *options)
        done = imgpack("verify", tmp_path / "out.rec", "--source", images, code=2)
        assert options[0].strip("-") in done.err and "source" in done.err


def test_resume_refuses_other_options(images, tmp_path):
    """An interrupted build is known by its journal; here one is left by a build that stops at its last file."""
    folder = tmp_path / "images"
    folder.mkdir()
    for name, file in files_below(images).items():
        (folder / name.decode().replace("/", "-")).write_bytes(file)
    (folder / "zzz.jpg").write_bytes(b"\xff\xd8 no image")
    out = tmp_path / "out.rec"
    imgpack("build", folder, out, "--encode", "raw", "--resize", 20, code=1)
    (folder / "zzz.jpg").write_bytes(next(iter(files_below(images).values())))
    for options in (["--encode", "raw"], ["--encode", "raw", "--resize", 21], []):
        assert imgpack_json("build", folder, out, "--resume", *options, code=2)["error"]["code"] == "invalid_argument"
    imgpack("build", folder, out, "--encode", "raw", "--resize", 20, "--resume")
    imgpack("build", folder, tmp_path / "whole.rec", "--encode", "raw", "--resize", 20)
    assert packed_bytes(out) == packed_bytes(tmp_path / "whole.rec")


# convert

def test_convert_to_another_variant(mixed, tmp_path):
    options = ["--encode", "raw", "--resize", 30, "--upscale"]
    imgpack("build", mixed, tmp_path / "keep.rec")
    imgpack("build", mixed, tmp_path / "direct.rec", *options)
    imgpack("convert", tmp_path / "keep.rec", tmp_path / "converted.rec", *options)
    assert (tmp_path / "converted.rec").read_bytes() == (tmp_path / "direct.rec").read_bytes()
    imgpack("convert", tmp_path / "direct.rec", tmp_path / "zstd.rec", "--encode", "raw", "--zstd", 9)
    transform = imgpack_json("info", tmp_path / "zstd.rec")["transform"]
    assert transform["zstd"] == "9" and "resize=30" in transform["source_transform"]
    assert extracted_pixels(tmp_path / "zstd.rec", tmp_path / "a") == extracted_pixels(
        tmp_path / "direct.rec", tmp_path / "b")


def test_convert_without_options_keeps_records(mixed, tmp_path):
    imgpack("build", mixed, tmp_path / "a.rec", "--jpeg", "restart", "--normalize")
    about = imgpack_json("info", tmp_path / "a.rec")
    for name in FORMATS:
        out = tmp_path / f"b.{EXTENSIONS[name]}"
        imgpack("convert", tmp_path / "a.rec", out)
        again = imgpack_json("info", out)
        assert again["content_digest"] == about["content_digest"] and again["transform"] == about["transform"]
        assert records_of(out) == records_of(tmp_path / "a.rec")


# verify --decode

def test_verify_decode_finds_what_checksums_do_not(tmp_path):
    wrong = tmp_path / "wrong.rec"
    subprocess.run([MAKE_WRONG_RECORDS, wrong], check=True)
    assert imgpack_json("verify", wrong)["good"] is True
    found = imgpack_json("verify", wrong, "--decode", code=1)["files"][0]
    keys = list(records_of(wrong))
    assert found["records"] == len(keys)
    assert [keys[item["record"]] for item in found["damage"]] == [key for key in keys if not key.startswith("good")]
    said = {keys[item["record"]]: item["what"] for item in found["damage"]}
    for key, what in said.items():
        assert f"'{key}'" in what
    assert "index" in said["index of another file.JPEG"] and "index" in said["index cut.JPEG"]
    assert "index" in said["flipped bit.JPEG"]
    assert "76x50" in said["wrong size.JPEG"] or "38x29" in said["wrong size.JPEG"]
    assert "bytes" in said["raw too short"] and "zstd" in said["zstd cut"]
    text = imgpack("verify", wrong, "--decode", code=1).out.decode()
    assert "DAMAGED" in text and "index of another file.JPEG" in text
    # extract names the same records and writes all others.
    report = imgpack_json("extract", wrong, tmp_path / "dir", "--pixels", "png", code=1)
    assert report["records"] + report["damaged_count"] == len(keys)
    assert {"half.JPEG", "half.png", "raw too short", "zstd cut", "wrong size.JPEG"} <= {
        entry["key"] for entry in report["not_extracted"]}


def test_verify_decode_finds_a_file_that_was_cut_before_it_was_packed(images, tmp_path):
    folder = tmp_path / "images"
    folder.mkdir()
    file = max(files_below(images).values(), key=len)
    (folder / "a.jpg").write_bytes(file)
    (folder / "b.jpg").write_bytes(file[:len(file) * 2 // 3])
    imgpack("build", folder, tmp_path / "out.rec")
    assert imgpack_json("verify", tmp_path / "out.rec", "--source", folder)["good"] is True
    damage = imgpack_json("verify", tmp_path / "out.rec", "--decode", code=1)["files"][0]["damage"]
    assert [item["record"] for item in damage] == [1] and "does not decode" in damage[0]["what"]
