"""Variants of real images: the folder that IMGPACK_TEST_DATA names, with imagenet-sample/ and odd/ in it."""
import hashlib
import io
import json
import os
import subprocess
from pathlib import Path

import pytest

if not os.environ.get("IMGPACK_TEST_DATA"):
    pytest.skip("IMGPACK_TEST_DATA is not set", allow_module_level=True)

from PIL import Image  # noqa: E402

from imgpack_cli import files_below, imgpack, imgpack_json  # noqa: E402

DATA = Path(os.environ["IMGPACK_TEST_DATA"])
SAMPLE = DATA / "imagenet-sample"
ODD = DATA / "odd"


def read_ppms(folder):
    """{key: (size, RGB bytes)} of what `extract --pixels ppm` wrote."""
    found = {}
    for name, content in files_below(folder).items():
        assert name.endswith(b".ppm")
        with Image.open(io.BytesIO(content)) as image:
            found[name[:-4].decode()] = image.size, image.tobytes()
    return found


def shown(file):
    with Image.open(io.BytesIO(file)) as image:
        return image.convert("RGB")


def center_crop(image, n):
    """torchvision's Resize(n) and CenterCrop(n)."""
    width, height = image.size
    size = (n, int(n * height / width)) if width <= height else (int(n * width / height), n)
    image = image.resize(size, Image.Resampling.BILINEAR)
    left, top = int(round((size[0] - n) / 2.0)), int(round((size[1] - n) / 2.0))
    return image.crop((left, top, left + n, top + n))


def djpeg(file):
    done = subprocess.run(["djpeg", "-pnm"], input=file, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert done.returncode in (0, 2)  # 2: with warnings, which some odd files give cause for
    return done.stdout


def decodable_odd_files():
    expected = json.loads((DATA / "odd-expected.json").read_text())
    return {key: about for key, about in expected.items() if about["pillow"] == "decodes"}


@pytest.mark.parametrize("options", [[], ["--encode", "raw"], ["--jpeg", "restart"], ["--normalize", "--zstd", 1]],
                         ids=lambda options: " ".join(map(str, options)) or "keep")
def test_pixels_of_odd_files(options, tmp_path):
    imgpack("build", ODD, tmp_path / "odd.rec", "--on-error", "skip", *options, code=1)
    # Kept files that nobody can decode are packed, and named here.
    imgpack("extract", tmp_path / "odd.rec", tmp_path / "ppm", "--pixels", "ppm", code=None)
    found = read_ppms(tmp_path / "ppm")
    expected = decodable_odd_files()
    assert found.keys() == expected.keys()
    for key, about in expected.items():
        assert found[key][0] == (about["width"], about["height"]), key
        assert hashlib.sha256(found[key][1]).hexdigest() == about["rgb_sha256"], key


def test_raw_builds_refuse_what_pillow_refuses(tmp_path):
    report = imgpack_json("build", ODD, tmp_path / "odd.rec", "--on-error", "skip", "--encode", "raw", code=1)
    left_out = {entry["key"]: entry["reason"] for entry in report["left_out"]}
    every = json.loads((DATA / "odd-expected.json").read_text())
    assert left_out.keys() == every.keys() - decodable_odd_files().keys()
    assert all(left_out.values())
    assert imgpack_json("verify", tmp_path / "odd.rec", "--decode")["good"] is True


@pytest.mark.parametrize("options", [["--encode", "raw"], []], ids=["raw", "indexed"])
def test_pixels_of_the_sample(options, tmp_path):
    imgpack("build", SAMPLE, tmp_path / "out.rec", *options)
    assert imgpack_json("verify", tmp_path / "out.rec", "--decode")["good"] is True
    imgpack("extract", tmp_path / "out.rec", tmp_path / "ppm", "--pixels", "ppm")
    found = read_ppms(tmp_path / "ppm")
    source = files_below(SAMPLE)
    assert found.keys() == {key.decode() for key in source}
    for key, file in source.items():
        image = shown(file)
        assert found[key.decode()] == (image.size, image.tobytes()), key


@pytest.mark.parametrize("folder", [SAMPLE, ODD], ids=["sample", "odd"])
def test_center_crops(folder, tmp_path):
    h5py = pytest.importorskip("h5py")
    out = tmp_path / "out.h5"
    report = imgpack_json("build", folder, out, "--encode", "raw", "--resize", 256, "--resize-mode", "center-crop",
                          "--upscale", "--on-error", "skip", code=None)
    keys = [record["key"] for record in imgpack_json("ls", out)["records"]]
    source = files_below(folder)
    expected = set(decodable_odd_files()) if folder == ODD else {key.decode() for key in source}
    # A result of 256 x 128,000 pixels on its way is refused, although Pillow would go through with it.
    too_narrow = {entry["key"] for entry in report["left_out"] if "too narrow" in entry["reason"]}
    assert too_narrow == ({"thin_1x500.JPEG", "wide_4000x2.JPEG"} if folder == ODD else set())
    assert set(keys) == expected - too_narrow
    with h5py.File(out) as file:
        for key, image in zip(keys, file["images"]):
            assert image.tobytes() == center_crop(shown(source[key.encode()]), 256).tobytes(), key


@pytest.mark.parametrize("folder", [SAMPLE, ODD], ids=["sample", "odd"])
@pytest.mark.parametrize("handling", ["baseline", "restart"])
def test_rewritten_jpegs(folder, handling, tmp_path):
    out = tmp_path / "out.rec"
    imgpack("build", folder, out, "--jpeg", handling, "--on-error", "skip", code=None)
    imgpack("extract", out, tmp_path / "dir")
    source = files_below(folder)
    expected = set(decodable_odd_files()) if folder == ODD else {key.decode() for key in source}
    before = after = rewritten = 0
    for key, file in files_below(tmp_path / "dir").items():
        before += len(source[key])
        after += len(file)
        if file == source[key]:
            continue
        assert source[key][:2] == b"\xff\xd8" and key.decode() in expected
        rewritten += 1
        assert djpeg(file) == djpeg(source[key]), key
    print(f"\n{folder.name}, --jpeg {handling}: {rewritten} of {len(source)} files rewritten, "
          f"{after / before:.4f} of the bytes")
    # The sample has no progressive files; restart markers go into all but those with a fourth colour.
    assert rewritten >= {("baseline", ODD): 3, ("baseline", SAMPLE): 0, ("restart", ODD): 20,
                         ("restart", SAMPLE): len(source) - 3}[handling, folder]
