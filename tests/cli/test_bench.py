"""bench: what it measures, says and writes. No test looks at how fast anything is."""
import csv
import html.parser
import io
import json
import re
import shutil
import signal
import xml.etree.ElementTree
from pathlib import Path

import pytest

from imgpack_cli import COMMAND, FORMATS, files_below, imgpack, imgpack_json, start_until



def lasting(seconds):
    return ["--seconds", str(seconds), "--rounds", "2", "--crop", "32", "--batch", "8", "--threads", "2"]


SHORT = lasting(0.02)
CPU_MEASURES = ["open", "seq", "random", "decode", "loader", "train"]
LOADING = {"loader", "gpu", "train"}
COLUMNS = ["Dataloader", "Disk", "GPU", "Batch size", "Time(s)", "Steps", "Samples/s", "Speed", "GPU Efficiency"]
CLI_DOCUMENT = Path(__file__).parents[2] / "docs" / "cli.md"
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def subjects(images, packed):
    """A rec, an lmdb where the build has it, and the folder they were made of."""
    return [packed[name] for name in ("rec", "lmdb") if name in FORMATS] + [images]


@pytest.fixture(scope="module")
def document(subjects):
    return imgpack_json("bench", *subjects, *SHORT, "--measure", ",".join(CPU_MEASURES), "--step-ms", "1",
                        "--baseline", subjects[-1])


@pytest.fixture
def folder_on_disk(request):
    """Beside the built command: temporary files may lie in memory."""
    folder = Path(COMMAND).parent / f"test_bench_{request.node.name}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    yield folder
    shutil.rmtree(folder)


# The document

def test_every_measure_of_every_file_is_a_row(document, subjects):
    assert [(row["measure"], row["file"]) for row in document["rows"]] == [
        (measure, str(file)) for measure in CPU_MEASURES for file in subjects]
    assert "error" not in document
    for row in document["rows"]:
        assert row["measured"] is True and row["reason"] is None and row["error"] is None
        assert row["unit"] == ("opens/s" if row["measure"] == "open" else "images/s")
        rate = row["rate"]
        assert 0 < rate["least"] <= rate["lower"] <= rate["median"] <= rate["upper"] <= rate["most"]
        assert rate["rounds"] == len(row["runs"]) == 2
        assert rate["noisy"] is (rate["spread"] > 0.1)
        assert row["bytes_per_second"] > 0 and row["cpu_us_per_sample"] > 0 and row["cold"] is None
        for run in row["runs"]:
            assert set(run) == {"samples", "bytes", "seconds", "cpu_seconds", "steps", "work_seconds", "evicted_from_bytes",
                                "resident_before_bytes", "resident_after_bytes"}
            assert run["samples"] > 0 and run["seconds"] > 0
            assert run["resident_before_bytes"] is None
            assert (run["steps"] > 0) is (row["measure"] in LOADING)
            assert (run["work_seconds"] > 0) is (row["measure"] == "train")


def test_speed_is_relative_to_the_baseline(document, subjects):
    assert document["baseline"] == str(subjects[-1])
    for measure in CPU_MEASURES:
        rows = [row for row in document["rows"] if row["measure"] == measure]
        base = rows[-1]["rate"]["median"]
        assert rows[-1]["speed"] == 1 and rows[-1]["speed_is_clear"] is True
        for row in rows[:-1]:
            assert row["speed"] == pytest.approx(row["rate"]["median"] / base)
            assert row["speed_is_clear"] is False  # two rounds tell nothing


def test_rows_of_loaders_have_the_columns_of_comparisons(document, subjects):
    for row in document["rows"]:
        if row["measure"] not in LOADING:
            assert row["loading"] is None
            continue
        loading = row["loading"]
        assert list(loading) == [*COLUMNS, "transport"]
        assert loading["Dataloader"] == ("loose files (thread pool)" if row["file"] == str(subjects[-1]) else
                                         "imgpack (rec)" if row["file"] == str(subjects[0]) else "imgpack (lmdb)")
        assert loading["GPU"] == "none" and loading["Batch size"] == 8 and loading["transport"] is None
        assert loading["Samples/s"] == row["rate"]["median"] and loading["Speed"] == row["speed"]
        if row["measure"] == "train":
            assert 0 < loading["GPU Efficiency"] <= 1
        else:
            assert loading["GPU Efficiency"] is None


def test_the_document_tells_on_what_and_how(document, images, subjects):
    machine = document["machine"]
    assert set(machine) == {"cpu", "cpus", "gpus", "load_before", "load_after"}
    assert machine["cpus"] >= 1 and machine["load_before"] >= 0
    options = document["options"]
    assert options["measures"] == CPU_MEASURES and options["cold"] is False and options["rounds"] == 2
    assert options["seconds"] == 0.02 and options["batch_size"] == 8 and options["threads"] == 2
    assert options["step_ms"] == 1 and options["device"] == "cpu" and options["dtype"] == "float32"
    assert [step.split("(")[0] for step in options["transform"]] == ["RandomResizedCrop", "HorizontalFlip", "Normalize"]
    assert [item["file"] for item in document["files"]] == [str(file) for file in subjects]
    assert [item["kind"] for item in document["files"]][0::len(subjects) - 1] == ["rec", "folder"]
    for item in document["files"]:
        assert item["images"] == 24
        assert set(item["storage"]) == {"kind", "filesystem", "device"} and item["storage"]["filesystem"]
        assert 0 <= item["resident_bytes"] <= item["bytes"]
    assert document["files"][-1]["bytes"] == sum(map(len, files_below(images).values()))
    assert document["seconds"] > 0


@pytest.mark.parametrize("name", FORMATS)
def test_every_format(name, packed):
    rows = imgpack_json("bench", packed[name], *SHORT)["rows"]
    assert [row["measure"] for row in rows] == ["open", "seq", "random", "decode", "loader"]
    assert all(row["measured"] for row in rows)


def test_splits(subjects):
    files = imgpack_json("bench", *subjects, *SHORT, "--split", "val", "--measure", "seq,loader")["files"]
    assert [item["images"] for item in files] == [6] * len(subjects)


def test_raw_images_as_they_are(images, tmp_path):
    imgpack("build", images, tmp_path / "raw.rec", "--encode", "raw", "--resize", 32, "--resize-mode", "exact", "--upscale")
    row, = imgpack_json("bench", tmp_path / "raw.rec", *SHORT, "--measure", "loader", "--transform", "none",
                        "--dtype", "uint8", "--layout", "nhwc")["rows"]
    assert row["measured"] is True


# Cold

@pytest.mark.parametrize("measure", ["open", "seq", "random", "decode", "loader"])
def test_cold_runs_begin_with_nothing_in_memory(measure, images, folder_on_disk):
    shutil.copytree(images, folder_on_disk / "images")
    imgpack("build", images, folder_on_disk / "a.rec")
    document = imgpack_json("bench", folder_on_disk / "a.rec", folder_on_disk / "images", *lasting(60),
                            "--measure", measure, "--cold")
    for row, item in zip(document["rows"], document["files"]):
        assert item["storage"]["kind"] != "tmpfs", "the build folder lies in memory: this test needs one on a disk"
        assert row["cold"] == {"complete": True, "resident_bytes": 0, "total_bytes": item["bytes"], "obstacle": None}
        for run in row["runs"]:
            assert run["resident_before_bytes"] == 0 < run["resident_after_bytes"] <= item["bytes"]
            assert run["samples"] == (1 if measure == "open" else 24)
            if measure != "open":
                assert run["resident_after_bytes"] == item["bytes"] or item["kind"] != "folder"
        assert row["runs"][1]["evicted_from_bytes"] > 0
    text = imgpack("bench", folder_on_disk / "a.rec", *SHORT, "--measure", measure, "--cold").out.decode()
    assert "0 B -> " in text and "not cold" not in text


def test_where_nothing_can_be_evicted_that_is_said(packed):
    shared = Path("/dev/shm") / f"imgpack_test_bench_{id(packed)}.rec"
    shutil.copyfile(packed["rec"], shared)
    try:
        row, = imgpack_json("bench", shared, *SHORT, "--measure", "random", "--cold")["rows"]
        text = imgpack("bench", shared, *SHORT, "--measure", "random", "--cold").out.decode()
    finally:
        shared.unlink()
    assert row["measured"] is True and row["cold"]["complete"] is False
    assert row["cold"]["resident_bytes"] == row["cold"]["total_bytes"] > 0
    assert "tmpfs" in row["cold"]["obstacle"]
    assert "not cold" in text and "tmpfs keeps its files in memory" in text


# Outputs

def test_table(subjects):
    text = imgpack("bench", *subjects, *SHORT, "--measure", "random,train", "--step-ms", "1").out.decode()
    for words in ("CPU", "load", "2 rounds of 0.02 s", "batches of 8, 2 threads", "24 images", "random", "train",
                  "loose files (thread pool)", "GPU Efficiency", "speed: relative to", "2 rounds tell little"):
        assert words in text
    header = next(line for line in text.splitlines() if line.startswith("measure") and "Dataloader" in line)
    at = [header.index(column) for column in COLUMNS]
    assert at == sorted(at)


def test_csv(subjects, tmp_path):
    out = tmp_path / "rows, \"all\".csv"
    document = imgpack_json("bench", *subjects, *SHORT, "--measure", "seq,loader", "--csv", out)
    rows = list(csv.DictReader(out.open(newline="")))
    assert [(row["measure"], row["file"]) for row in rows] == [(row["measure"], row["file"]) for row in document["rows"]]
    assert set(COLUMNS) <= set(rows[0])
    for line, row in zip(rows, document["rows"]):
        assert float(line["Samples/s"]) == pytest.approx(row["rate"]["median"], rel=1e-4)
        assert float(line["Speed"]) == pytest.approx(row["speed"], rel=1e-4)
        assert line["Dataloader"] == (row["loading"]["Dataloader"] if row["loading"] else "")
        assert line["cold"] == "no" and line["note"] == "" and line["GPU Efficiency"] == ""
    printed = imgpack("bench", *subjects, *SHORT, "--measure", "seq", "--csv", "-").out.decode()
    assert len(list(csv.DictReader(io.StringIO(printed)))) == len(subjects)


def test_plots(subjects, tmp_path):
    strange = tmp_path / "a <b> & \"c\" \u00e9.rec"
    shutil.copyfile(subjects[0], strange)
    arguments = ["bench", strange, *subjects, *SHORT, "--measure", "open,random,gpu", "--device", "cuda:999"]
    imgpack(*arguments, "--plot", tmp_path / "a.svg", code=3)
    imgpack(*arguments, "--plot", tmp_path / "a.html", code=3)
    svg = xml.etree.ElementTree.parse(tmp_path / "a.svg").getroot()
    assert svg.tag == SVG + "svg"
    check_figure(svg, len(subjects) + 1)

    class Reader(html.parser.HTMLParser):
        tags = []
        text = ""

        def handle_starttag(self, tag, attributes):
            self.tags.append(tag)
            assert not {"src", "href"} & {name for name, _ in attributes}, "the page must need nothing else"

        def handle_data(self, data):
            self.text += data
    reader = Reader()
    page = (tmp_path / "a.html").read_text()
    reader.feed(page)
    assert reader.tags.count("svg") == reader.tags.count("pre") == 1 and "script" not in reader.tags
    assert strange.name in reader.text and "quartiles" in reader.text
    check_figure(xml.etree.ElementTree.fromstring(page[page.index("<svg"):page.index("</svg>") + 6]), len(subjects) + 1)


def check_figure(svg, files):
    texts = ["".join(text.itertext()) for text in svg.iter(SVG + "text")]
    bars = [bar for bar in svg.iter(SVG + "rect") if bar.find(SVG + "title") is not None]
    assert len(bars) == len(list(svg.iter(SVG + "path"))) == 2 * files
    assert len([text for text in texts if text.startswith("not measured: ")]) == files
    assert {"open (opens/s)", "random (images/s)", "gpu (images/s)"} <= set(texts)
    assert texts.count("a <b> & \"c\" \u00e9.rec") == 3
    width = float(svg.get("width"))
    assert all(0 < float(bar.get("width")) and float(bar.get("x")) + float(bar.get("width")) < width for bar in bars)


def test_files_are_not_replaced_unless_that_is_asked_for(packed, tmp_path):
    for option, name in (("--csv", "a.csv"), ("--plot", "a.svg")):
        out = tmp_path / name
        out.write_text("precious")
        arguments = ["bench", packed["rec"], "--measure", "seq", option, out]
        # Found before anything is measured, and not after an hour.
        assert imgpack_json(*arguments, *lasting(3600), code=2)["error"]["code"] == "already_exists"
        assert out.read_text() == "precious"
        imgpack(*arguments, *SHORT, "--overwrite")
        assert out.read_text() != "precious"
    imgpack("bench", packed["rec"], "--csv", "-", "--json", code=2)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.csv", "a.svg"]


# What goes wrong

def test_a_gpu_that_is_not_there_is_a_row_with_a_reason(subjects):
    arguments = ["bench", *subjects, *SHORT, "--measure", "seq,gpu", "--device", "cuda:999"]
    document = imgpack_json(*arguments, code=3)
    assert document["error"]["code"] == "unsupported"
    rows = {(row["measure"], row["file"]): row for row in document["rows"]}
    assert all(rows["seq", str(file)]["measured"] for file in subjects)
    packed_row, folder_row = rows["gpu", str(subjects[0])], rows["gpu", str(subjects[-1])]
    assert packed_row["measured"] is False and packed_row["rate"] is None
    assert packed_row["error"]["code"] == "unsupported" and packed_row["reason"] is None
    assert packed_row["loading"]["GPU"].startswith("cuda:999")
    assert folder_row["measured"] is False and folder_row["error"] is None and "host memory" in folder_row["reason"]
    done = imgpack(*arguments, code=3)
    assert done.err.startswith("imgpack: ") and "could not be measured" in done.err
    assert "gpu of " in done.out.decode()


def test_what_has_no_meaning_is_no_failure(images):
    row, = imgpack_json("bench", images, *SHORT, "--measure", "gpu")["rows"]
    assert row["measured"] is False and "host memory" in row["reason"]


def test_a_damaged_file_ends_it_before_anything_is_measured(packed, tmp_path):
    (tmp_path / "cut.rec").write_bytes(packed["rec"].read_bytes()[:-100])
    error = imgpack_json("bench", packed["rec"], tmp_path / "cut.rec", "--seconds", "3600", code=1)["error"]
    assert error["code"] == "damaged" and error["file"] == str(tmp_path / "cut.rec")


def test_a_damaged_record_is_a_row_with_an_error(packed, images, tmp_path):
    content = bytearray(packed["rec"].read_bytes())
    begin = content.index(b"\xff\xd8\xff")
    content[begin:begin + 64] = bytes(64)
    (tmp_path / "bad.rec").write_bytes(content)
    document = imgpack_json("bench", tmp_path / "bad.rec", packed["rec"], *lasting(0.3), "--measure",
                            "seq,decode,loader", code=1)
    assert document["error"]["code"] == "damaged"
    measured = {(row["measure"], Path(row["file"]).name): row["measured"] for row in document["rows"]}
    assert measured == {("seq", "bad.rec"): True, ("decode", "bad.rec"): False, ("loader", "bad.rec"): False,
                        ("seq", packed["rec"].name): True, ("decode", packed["rec"].name): True,
                        ("loader", packed["rec"].name): True}
    bad, = [row for row in document["rows"] if row["measure"] == "decode" and row["error"]]
    assert bad["error"]["file"] == str(tmp_path / "bad.rec") and bad["error"]["record"] is not None

    folder = tmp_path / "images"
    shutil.copytree(images, folder)
    victim = folder / "train/n00000001/n00000001_0.JPEG"
    victim.write_bytes(b"no image")
    row, = imgpack_json("bench", folder, *lasting(0.3), "--measure", "loader", code=1)["rows"]
    assert row["error"]["code"] == "damaged" and row["error"]["file"] == str(victim)


def test_a_folder_without_images(tmp_path):
    assert imgpack_json("bench", tmp_path, code=2)["error"]["code"] == "invalid_argument"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupts_end_it_at_once_and_leave_nothing(number, subjects, tmp_path):
    process = start_until("measuring", "bench", *subjects, "--seconds", "3600", "--plot", tmp_path / "a.svg", "--json")
    process.send_signal(number)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == -number
    assert b'"interrupted"' in out
    assert list(tmp_path.iterdir()) == []


# docs/cli.md

def test_the_documented_json_is_the_real_one(packed):
    documented = re.search(r"^## bench$.*?^```json\n(.*?)^```$", CLI_DOCUMENT.read_text(), re.MULTILINE | re.DOTALL)
    real = imgpack_json("bench", packed["rec"], *SHORT, "--measure", "random,loader", "--cold")
    real["rows"] = [row for row in real["rows"] if row["measure"] == "loader"]
    assert keys_of(json.loads(documented.group(1))) == keys_of(real)


def test_the_documented_csv_columns_are_the_real_ones(packed):
    documented = re.search(r"^CSV columns: (.*)$", CLI_DOCUMENT.read_text(), re.MULTILINE).group(1)
    named = re.sub(r"\([^)]*`[^)]*\)", "", documented.replace("those of `loading`", "`" + ", ".join(COLUMNS) + "`").replace("(s)", "[s]"))
    names = [name.strip().replace("[s]", "(s)") for part in re.findall(r"`([^`]*)`", named) for name in part.split(",")]
    printed = imgpack("bench", packed["rec"], *SHORT, "--measure", "seq", "--csv", "-").out.decode()
    assert next(csv.reader(io.StringIO(printed))) == names


def keys_of(value, path=""):
    """Every key of a document with the way to it, once for all elements of a list."""
    if isinstance(value, dict):
        return {key for name, item in value.items() for key in {f"{path}.{name}"} | keys_of(item, f"{path}.{name}")}
    if isinstance(value, list):
        return {key for item in value for key in keys_of(item, path + "[]")}
    return set()
