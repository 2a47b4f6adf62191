"""Real images: the folder that IMGPACK_TEST_DATA names, with imagenet-sample/ and odd/ in it."""
import json
import os
import subprocess
from pathlib import Path

import pytest

if not os.environ.get("IMGPACK_TEST_DATA"):
    pytest.skip("IMGPACK_TEST_DATA is not set", allow_module_level=True)

from imgpack_cli import EXTENSIONS, FORMATS, files_below, imgpack, imgpack_json, packed_bytes  # noqa: E402

DATA = Path(os.environ["IMGPACK_TEST_DATA"])
SAMPLE = DATA / "imagenet-sample"
ODD = DATA / "odd"


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sample")
    for name in FORMATS:
        imgpack("build", SAMPLE, folder / f"out.{EXTENSIONS[name]}", "--format", name)
    return folder


@pytest.mark.parametrize("name", FORMATS)
def test_sample_round_trip(name, out, tmp_path):
    file = out / f"out.{EXTENSIONS[name]}"
    assert imgpack_json("verify", file, "--source", SAMPLE)["good"] is True
    imgpack("extract", file, tmp_path / "dir")
    assert subprocess.run(["diff", "-r", SAMPLE, tmp_path / "dir"], capture_output=True).stdout == b""
    imgpack("convert", file, tmp_path / "back.rec")
    assert (tmp_path / "back.rec").read_bytes() == (out / "out.rec").read_bytes()


def test_sample_shards(tmp_path):
    imgpack("build", SAMPLE, tmp_path / "s.rec", "--shards", 4)
    imgpack("build", SAMPLE, tmp_path / "t.rec", "--shard", "2/4")
    assert (tmp_path / "s-00002-of-00004.rec").read_bytes() == (tmp_path / "t-00002-of-00004.rec").read_bytes()
    assert imgpack_json("verify", tmp_path / "s.rec", "--source", SAMPLE)["good"] is True


# What Pillow opens but cannot decode to the end is packed: keeping bytes needs no decoding.
def pillow_opens(about):
    return about["pillow"] == "decodes" or "truncated" in about["why"].lower()


@pytest.mark.parametrize("name", FORMATS)
def test_odd_files(name, tmp_path):
    expected = json.loads((DATA / "odd-expected.json").read_text())
    file = tmp_path / f"odd.{EXTENSIONS[name]}"
    report = imgpack_json("build", ODD, file, "--on-error", "skip", code=1)
    left_out = {entry["key"]: entry["reason"] for entry in report["left_out"]}
    assert all(left_out.values())
    for key, about in expected.items():
        if about["pillow"] == "decodes":
            assert key not in left_out, left_out[key]
        elif not pillow_opens(about):
            assert key in left_out, f"{key} was packed, though Pillow says {about['why']}"
    assert report["records"] + len(left_out) == len(expected)
    for record in imgpack_json("ls", file)["records"]:
        about = expected[record["key"]]
        if "width" in about:
            assert (record["width"], record["height"]) == (about["width"], about["height"])
            assert record["codec"] == about["format"].lower()
    assert imgpack_json("verify", file, "--source", ODD)["good"] is True
    imgpack("extract", file, tmp_path / "dir")
    source = files_below(ODD)
    assert files_below(tmp_path / "dir") == {k: v for k, v in source.items() if k.decode() not in left_out}


def test_odd_files_stop_a_build(tmp_path):
    error = imgpack_json("build", ODD, tmp_path / "odd.rec", code=1)["error"]
    assert error["code"] == "refused" and error["file"] and error["message"]
    assert not (tmp_path / "odd.rec").exists()


@pytest.mark.parametrize("file", sorted(path.name for path in ODD.iterdir()))
def test_each_odd_file_alone(file, tmp_path):
    """Never a crash or a hang, whatever the verdict."""
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / file).symlink_to(ODD / file)
    done = imgpack("build", tmp_path / "source", tmp_path / "out.rec", "--json", code=None)
    assert done.code in (0, 1)
    assert done.code == 0 or file in done.json()["error"]["file"]
