"""docs/cli.md shows a JSON document for every command: the command's own has the same keys and types. And the exit codes."""
import json
import re
import shutil
from pathlib import Path

import pytest

from imgpack_cli import imgpack, imgpack_json, make_images

DOCUMENT = (Path(__file__).parents[2] / "docs" / "cli.md").read_text()
SHORT = ["--seconds", "0.02", "--rounds", "1", "--crop", "32", "--batch", "4", "--threads", "1"]
# Objects whose keys are data, as codecs in {"jpeg": 386}.
MAPS = {"codecs", "kinds", "jpeg_kinds.kinds", "transform", "metadata", "formats", "jpeg_kinds", "orientations", "without"}


def documented(section):
    """The JSON documents in a section, in their order."""
    text = re.search(rf"^## {section}$(.*?)(?=^## |\Z)", DOCUMENT, re.MULTILINE | re.DOTALL).group(1)
    return [json.loads(block) for block in re.findall(r"^```json\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)]


def kind_of(value):
    if isinstance(value, bool):
        return "boolean"
    return "number" if isinstance(value, (int, float)) else type(value).__name__


def differences(shown, real, path=""):
    """What is documented and not so, or so and not documented. "..." stands for keys that are shown elsewhere."""
    if shown is None or real is None:
        return []
    if kind_of(shown) != kind_of(real):
        return [f"{path}: {kind_of(shown)} documented, {kind_of(real)} real"]
    if isinstance(shown, dict):
        name = path.rsplit(".", 1)[-1]
        if name in MAPS and not set(shown) & set(real):
            return []
        found = []
        if "..." not in shown and name not in MAPS:
            found += [f"{path}.{key}: not documented" for key in real if key not in shown]
        found += [f"{path}.{key}: not there" for key in shown if key not in real and key != "..." and name not in MAPS]
        for key in set(shown) & set(real):
            found += differences(shown[key], real[key], f"{path}.{key}")
        return found
    if isinstance(shown, list) and shown and real:
        return differences(shown[0], real[0], f"{path}[]")
    return []


def check(section, real, number=0):
    assert differences(documented(section)[number], real) == []


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return make_images(tmp_path_factory.mktemp("documents") / "images")


@pytest.fixture(scope="module")
def packed(folder):
    imgpack("build", folder, folder.parent / "a.rec")
    return folder.parent / "a.rec"


@pytest.fixture(scope="module")
def damaged(packed):
    path = packed.parent / "damaged.rec"
    data = bytearray(packed.read_bytes())
    data[data.index(b"\xff\xd8\xff") + 300] ^= 0x55
    path.write_bytes(data)
    return path


def test_what_is_compared_can_differ():
    assert differences({"a": 1, "b": [{"c": None}]}, {"a": 2.5, "b": [{"c": "x"}, {"d": 1}]}) == []
    assert differences({"a": 1}, {"a": "1"}) and differences({"a": 1}, {}) and differences({}, {"a": 1})
    assert differences({"b": [{"c": 1}]}, {"b": [{"d": 1}]})


def test_every_command_has_a_document_or_is_like_another():
    commands = set(re.findall(r"^imgpack ([a-z]+) ", DOCUMENT.split("```")[1], re.MULTILINE))
    shown = {command for command in commands if documented(command)}
    assert commands - shown == {"convert", "completion"}  # as build; no document


def test_errors_and_version(packed, folder):
    check("Everywhere", imgpack_json("build", folder, packed, code=2))
    version = json.loads(re.search(r"`imgpack --version --json` prints `(.*?)`", DOCUMENT).group(1))
    assert differences(version, imgpack_json("--version")) == []


def test_build_and_convert(folder, packed, tmp_path):
    broken = tmp_path / "images"
    shutil.copytree(folder, broken)
    (broken / "train" / "n00000001" / "empty.JPEG").touch()
    check("build", imgpack_json("build", broken, tmp_path / "b.rec", "--on-error", "skip", code=1))
    check("build", imgpack_json("convert", packed, tmp_path / "c.rec"))


def test_verify(packed, damaged, folder):
    check("verify", imgpack_json("verify", packed, "--source", folder))
    report = imgpack_json("verify", damaged, code=1)
    assert differences(documented("verify")[0]["files"][0]["damage"][0], report["files"][0]["damage"][0]) == []


def test_info_and_ls(packed):
    check("info", imgpack_json("info", packed))
    check("ls", imgpack_json("ls", packed))


def test_extract(packed, tmp_path):
    check("extract", imgpack_json("extract", packed, tmp_path / "out"))


def test_merge(packed, tmp_path):
    shutil.copy(packed, tmp_path / "a.rec")
    check("merge", imgpack_json("merge", tmp_path / "all.json", tmp_path / "a.rec"))


def test_bench_and_doctor(packed):
    bench = imgpack_json("bench", packed, *SHORT, "--measure", "loader", "--cold")
    check("bench", bench)
    check("doctor", imgpack_json("doctor", packed, *SHORT, "--step-ms", "1", "--target", "1"))


def test_view(packed, damaged, tmp_path):
    check("view", imgpack_json("view", damaged, code=1))
    check("view", imgpack_json("view", packed, "-o", tmp_path / "sheet.png", "--by", "class"), 1)


@pytest.mark.parametrize("command", ["verify", "info", "ls", "view", "bench", "doctor"])
def test_exit_codes(command, packed, damaged, tmp_path):
    options = [*SHORT] if command in ("bench", "doctor") else []
    imgpack(command, packed, *options, *(["--json"] if command == "view" else []))
    imgpack(command, tmp_path / "missing.rec", *options, *(["--json"] if command == "view" else []), code=2)
    imgpack(command, packed, "--no-such-option", code=2)
    text = tmp_path / "text.rec"
    text.write_text("no packed file")
    imgpack(command, text, *options, *(["--json"] if command == "view" else []), code=1)
    cut = tmp_path / "cut.rec"
    cut.write_bytes(packed.read_bytes()[:-100])
    imgpack(command, cut, *options, *(["--json"] if command == "view" else []), code=1)
