"""benchmarks/experiments: one command gives the table, the figure and the files, with every combination in them."""
import csv
import json
import mmap
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
import torch

from bars import Bar, write_svg
from conftest import BENCHMARKS
from page_cache import evict
from results import Rounds, file_system, markdown

LOADERS = {"one synthetic batch", "imgpack", "ImageFolder", "imgpack.MapDataset", "imgpack on the GPU"}
DISKS = {"first disk", "second"}


def run(images, folder, *arguments):
    for name in ("a", "b"):
        (folder / name).mkdir(exist_ok=True)
    command = [sys.executable, BENCHMARKS / "experiments" / "run.py", images, "--disk", f"first disk={folder / 'a'}",
               "--disk", f"second={folder / 'b'}", "--size", "32", "--width", "0.1", "--steps", "2", "--warm-up", "1",
               "--json", folder / "all.json", "--csv", folder / "all.csv", "--figure", folder / "all.svg", *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert not list((folder / "a").iterdir()) and not list((folder / "b").iterdir())
    return json.loads((folder / "all.json").read_text())["rows"], done.stdout


@pytest.fixture(scope="module")
def everything(images, tmp_path_factory):
    folder = tmp_path_factory.mktemp("experiments")
    rows, output = run(images, folder, "--batch-sizes", "4", "64", "--devices", "1", "2", "--rounds", "1", "--workers",
                       "2", "--cold")
    return rows, output, folder


def test_every_combination_is_there(everything):
    rows, _, _ = everything
    parallel = {(1, "single"), (2, "DataParallel"), (2, "DistributedDataParallel")}
    # the synthetic batch lies on no disk
    expected = {(loader, disk, devices, how, precision, batch)
                for loader in LOADERS for disk in ({""} if loader == "one synthetic batch" else DISKS)
                for devices, how in parallel for precision in ("fp32", "bf16") for batch in (4, 64)}
    found = [(row["loader"], row["disk"], row["devices"], row["parallel"], row["precision"], row["batch"])
             for row in rows]
    assert set(found) == expected and len(found) == len(expected)
    for row in rows:
        assert (row["status"], bool(row["reason"])) in (("measured", False), ("skipped", True)), row


def test_what_can_run_has_run(everything):
    rows, output, _ = everything
    for row in rows:
        if row["batch"] == 64:
            assert row["status"] == "skipped"
        elif row["precision"] == "fp32" and row["parallel"] != "DataParallel" and not torch.cuda.is_available():
            assert (row["status"] == "measured") == (row["loader"] != "imgpack on the GPU"), row["reason"]
    reasons = {row["reason"] for row in rows if row["status"] == "skipped"}
    assert "21 images are fewer than a batch of 64" in reasons
    if not torch.cuda.is_available():
        assert any("DataParallel needs at least two GPUs" in reason for reason in reasons)
    for reason in reasons:
        assert any(line.startswith("skipped: ") and line.endswith(reason.splitlines()[-1])
                   for line in output.splitlines()), reason


def test_figures_fit_together(everything):
    rows, output, folder = everything
    measured = [row for row in rows if row["status"] == "measured"]
    for row in measured:
        assert len(row["rounds"]) == 1 and row["steps"] == 2
        assert row["min"] <= row["samples_per_second"] <= row["max"]
        same = [other for other in measured if other["gpu"] == row["gpu"]]
        synthetic, = [other for other in same if other["loader"] == "one synthetic batch"]
        assert row["efficiency"] == pytest.approx(row["samples_per_second"] / synthetic["samples_per_second"])
        if row["disk"]:
            assert len(row["resident"]) == 1 and all(0 <= share <= 1 for share in row["resident"])
            baseline, = [other for other in same if (other["loader"], other["disk"]) == ("ImageFolder", row["disk"])]
            assert row["speed"] == pytest.approx(row["samples_per_second"] / baseline["samples_per_second"])
    lines = output.splitlines()
    assert [cell.strip() for cell in lines[0].strip("|").split("|")] == [
        "Dataloader", "Disk", "GPU", "Batch size", "Time(s)", "Steps", "Samples/s", "Speed", "GPU Efficiency"]
    assert sum(line.startswith("| ") for line in lines) == 2 + len(measured)
    with open(folder / "all.csv", newline="") as file:
        table = list(csv.DictReader(file))
    assert [line["loader"] for line in table] == [row["loader"] for row in rows]
    assert all(float(line["samples_per_second"]) > 0 for line in table if line["status"] == "measured")


def test_the_figure_has_a_bar_for_each_row(everything):
    rows, _, folder = everything
    root = ElementTree.parse(folder / "all.svg").getroot()
    space = "{http://www.w3.org/2000/svg}"
    texts = [text.text for text in root.iter(f"{space}text")]
    measured = [row for row in rows if row["status"] == "measured"]
    assert len(root.findall(f"{space}rect")) == 1 + len(measured)  # and the background
    for row in measured:
        assert (f"{row['loader']}, {row['disk']}" if row["disk"] else row["loader"]) in texts


def test_another_baseline(images, tmp_path):
    rows, _ = run(images, tmp_path, "--batch-sizes", "4", "--devices", "1", "--rounds", "2", "--precisions", "fp32",
                  "--loaders", "imgpack", "imgpack.MapDataset", "--baseline", "imgpack")
    speeds = {row["loader"]: row["speed"] for row in rows if row["disk"] == "second"}
    assert speeds["imgpack"] == 1 and speeds["imgpack.MapDataset"] > 0
    assert all(len(row["rounds"]) == 2 for row in rows if row["status"] == "measured")


def test_svg_escapes_and_scales(tmp_path):
    write_svg(tmp_path / "bars.svg", "a < b & c", [("first", [Bar("<x>", "x", 50, 40, 100), Bar("y", "y", 25, 25, 25)]),
                                                   ("second", [Bar("z", "x", 1, 1, 1)])], "images/s")
    root = ElementTree.parse(tmp_path / "bars.svg").getroot()
    space = "{http://www.w3.org/2000/svg}"
    widths = [float(rect.get("width")) for rect in root.findall(f"{space}rect")[1:]]
    assert widths == [210, 105, 420]  # of the longest whisker of each group
    assert [text.text for text in root.iter(f"{space}text")][0] == "a < b & c"


def test_eviction_tells_what_stays(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(bytes(64 * mmap.PAGESIZE))
    if file_system(tmp_path) != "tmpfs":
        assert evict([path]) == 0
        with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as held:
            assert sum(held[::mmap.PAGESIZE]) == 0  # every page is touched
            assert evict([path]) > 0
    in_memory = Path("/dev/shm") / f"{tmp_path.name}-evict"
    try:
        in_memory.write_bytes(bytes(4 * mmap.PAGESIZE))
        assert evict([in_memory]) == 1
    finally:
        in_memory.unlink()
    assert evict([]) == 0


def test_rounds_and_table():
    rounds = Rounds([4, 1, 2])
    assert rounds.median == 2 and rounds.spread == 1.5
    assert markdown(["a", "b"], [["x", "10"], ["long", "2"]]) == (
        "| a    | b  |\n| ---- | -- |\n| x    | 10 |\n| long |  2 |")
