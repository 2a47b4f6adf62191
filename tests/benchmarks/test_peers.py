"""benchmarks/peers: each peer that is installed does the job, and each that is not is named."""
import csv
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

import installing
import registry
from conftest import BENCHMARKS
from job import Job, NotOffered, Peer, scale_and_shift
from measuring import Contestant, Loading, RandomReads, measure

#: What is there wherever the tests run.
PRESENT = {"image-folder", "opencv", "lmdb", "h5py", "h5py-flat", "imgpack-rec", "imgpack-raw", "imgpack-lmdb",
           "imgpack-hdf5", "imgpack-tfrecord", "imgpack-map-dataset"}
ALL = {peer.key for peer in registry.PEERS}


def ready(cls, job):
    """A peer after prepare(); skips the test, aloud, for one that need not be installed."""
    peer = cls(job)
    reason = peer.why_not()
    if reason is not None:
        assert cls.key not in PRESENT, reason
        pytest.skip(reason)
    peer.prepare()
    return peer


def pixels_of(batches):
    """Label and 8-bit pixels of each sample, sorted; checks types and shapes."""
    scale, shift = (values[None, :, None, None] for values in scale_and_shift())
    samples = []
    for images, labels in batches:
        assert images.dtype == torch.float32 and labels.dtype == torch.int64
        assert images.shape == (len(labels), 3, 48, 48)
        values = (images.numpy() + shift) / scale
        pixels = np.rint(values)
        assert np.abs(values - pixels).max() < 0.01
        samples += [(label, image.tobytes()) for label, image in zip(labels.tolist(), pixels.astype(np.uint8))]
    return sorted(samples)


@pytest.mark.parametrize("cls", registry.PEERS, ids=lambda cls: cls.key)
def test_same_images(cls, equal_images, tmp_path):
    """Where nothing is resized, every peer gives each image once an epoch, with its label, and with Pillow's pixels."""
    job = Job(equal_images, tmp_path, batch=4, workers=2, size=48, crop=False)
    peer = ready(cls, job)
    reference = pixels_of(registry.PEERS[0](job).batches())
    assert len({pixels for _, pixels in reference}) == 21
    for _ in range(2):
        samples = pixels_of(peer.batches())
        assert [label for label, _ in samples] == [label for label, _ in reference]
        assert samples == reference or not peer.exact
    peer.close()


@pytest.mark.parametrize("cls", registry.PEERS, ids=lambda cls: cls.key)
def test_random_crops(cls, images, tmp_path):
    """Crops are of the right size, and other ones in another epoch."""
    peer = ready(cls, Job(images, tmp_path, batch=8, workers=1, size=48))
    first, second = pixels_of_crops(peer), pixels_of_crops(peer)
    assert len(first) == len(second) == 21
    assert [label for label, _ in first] == [label for label, _ in second] == 7 * [0] + 7 * [1] + 7 * [2]
    assert first != second
    peer.close()


def pixels_of_crops(peer):
    samples = []
    for batch, labels in peer.batches():
        assert batch.shape == (len(labels), 3, 48, 48) and batch.dtype == torch.float32
        samples += [(label, image.tobytes()) for label, image in zip(labels.tolist(), batch.numpy())]
    return sorted(samples)


@pytest.mark.parametrize("cls", registry.PEERS, ids=lambda cls: cls.key)
def test_random_read(cls, images, tmp_path):
    """What is read is the file's own bytes, record by record, unless the row says that it is not kept."""
    job = Job(images, tmp_path, batch=4, workers=0)
    peer = ready(cls, job)
    try:
        read = peer.random_read()
    except NotOffered as reason:
        assert len(str(reason)) > 10
        return
    files = [Path(path).read_bytes() for path, _ in job.samples()]
    if "raw" in cls.key:
        assert all(len(read(index)) > len(file) for index, file in enumerate(files))
    else:
        assert [bytes(read(index)) for index in range(21)] == files


def test_table(images, tmp_path):
    """The command names every peer, as a row with figures or with the reason why not."""
    command = [sys.executable, BENCHMARKS / "peers" / "run.py", images, "--work", tmp_path / "work", "--copies", "2",
               "--batch", "8", "--size", "32", "--workers", "1", "--seconds", "0.05", "--rounds", "2", "--baseline",
               "lmdb", "--json", tmp_path / "all.json", "--csv", tmp_path / "all.csv"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert [path.name for path in (tmp_path / "work").iterdir()] == ["images-2"]
    result = json.loads((tmp_path / "all.json").read_text())
    rows = {row["key"]: row for row in result["rows"]}
    assert rows.keys() == ALL and result["job"]["records"] == 42
    assert {key for key, row in rows.items() if row["status"] == "measured"} >= PRESENT
    for row in rows.values():
        assert (row["status"], bool(row["reason"])) in (("measured", False), ("skipped", True))
        if row["status"] == "skipped":
            assert f"skipped: {row['peer']}: {row['reason']}" in done.stdout.splitlines()
            continue
        assert any(line.startswith(f"| {row['peer']} ") for line in done.stdout.splitlines())
        assert row["per_second"].keys() | row["not_offered"].keys() == {"random_read", "loader"}
        for figure in row["per_second"].values():
            assert 0 < figure["min"] <= figure["median"] <= figure["max"] and len(figure["rounds"]) == 2
    for name in ("random_read", "loader"):
        base = rows["lmdb"]["per_second"][name]
        assert base["ratio"] == 1
        other = rows["imgpack-rec"]["per_second"][name]
        assert other["ratio"] == pytest.approx(other["median"] / base["median"])
    with open(tmp_path / "all.csv", newline="") as file:
        lines = list(csv.DictReader(file))
    assert {line["peer"] for line in lines} == {row["peer"] for row in rows.values()}
    assert all((float(line["per_second"]) > 0) if line["status"] == "measured" else line["reason"] for line in lines)


class Broken(Peer):
    """A peer whose parts are given to it."""

    key = name = "broken"

    def __init__(self, job, prepare=lambda: [], batches=lambda: [], missing=None):
        super().__init__(job)
        self.prepare, self.batches, self.missing = prepare, batches, missing

    def unsuitable(self):
        return self.missing


def test_failures_are_named(tmp_path):
    job = Job(tmp_path, tmp_path, batch=2, workers=0, size=8)

    def explode():
        raise OSError("disk is full")

    def batch(shape=(2, 3, 8, 8), dtype=torch.float32):
        return torch.zeros(shape, dtype=dtype), torch.zeros(2, dtype=torch.int64)

    cases = [(Broken(job, prepare=explode), "OSError: disk is full"),
             (Broken(job, batches=explode), "OSError: disk is full"),
             (Broken(job, batches=lambda: [batch()]), "ValueError: an epoch has 2 samples, not 4"),
             (Broken(job, batches=lambda: [batch((2, 3, 8, 9)), batch()]), "is torch.float32 (2, 3, 8, 9)"),
             (Broken(job, batches=lambda: [batch(dtype=torch.uint8), batch()]), "is torch.uint8")]
    contestants = [Contestant(peer) for peer, _ in cases]
    contestants.append(Contestant(Broken(job, batches=lambda: [batch(), batch()])))
    contestants.append(Contestant(Broken(job, missing="it has no wheels"), "pip: no"))
    for contestant in contestants:
        contestant.prepare()
    measure(Loading(job, 4, 0.001), contestants, rounds=2)
    for contestant, (_, reason) in zip(contestants, cases):
        assert contestant.status == "failed" and reason in contestant.reason
    assert contestants[-2].status == "measured" and contestants[-2].figures["loader"].median > 0
    assert (contestants[-1].status, contestants[-1].reason) == ("skipped", "it has no wheels")


def test_random_reads_go_through_all(tmp_path):
    """In the same order for all, and what is not offered is no failure."""
    seen = {}

    class Reading(Broken):
        def random_read(self):
            if self.key == "none":
                raise NotOffered("it only writes")
            return seen.setdefault(self.key, []).append

    peers = []
    for key in ("one", "two", "none"):
        peer = Reading(Job(tmp_path, tmp_path, batch=1, workers=0))
        peer.key = key
        peers.append(Contestant(peer))
    measure(RandomReads(1000, 0), peers, rounds=1)
    assert seen["one"] == seen["two"] and sorted(seen["one"][:1000]) == list(range(1000))
    assert seen["one"][:1000] != list(range(1000))
    assert [peer.status for peer in peers] == 3 * ["measured"]
    assert peers[2].not_offered == {"random_read": "it only writes"} and peers[2].figures == {}


def test_what_pip_refuses_is_a_reason(tmp_path, monkeypatch):
    (tmp_path / "requirements-nowhere.txt").write_text("./nowhere-1.0-py3-none-any.whl\n")
    (tmp_path / "requirements-dali.txt").write_text("./nowhere-1.0-py3-none-any.whl\n")
    monkeypatch.setattr(installing, "HERE", tmp_path)
    installing.install(tmp_path / "venv", [], 60)
    reasons = installing.reasons(tmp_path / "venv")
    assert reasons["nowhere"].startswith("pip: ERROR") and "nowhere-1.0" in reasons["nowhere"]
    assert reasons["dali"] == installing.LARGE["dali"]
    # imgpack of this interpreter can be imported there
    subprocess.run([tmp_path / "venv" / "bin" / "python", "-c", "import imgpack"], check=True)


def test_requirements_are_pinned():
    assert {peer.package for peer in registry.PEERS} - {""} == installing.requirements().keys()
    for path in installing.requirements().values():
        lines = [line for line in path.read_text().splitlines() if not line.startswith("#")]
        assert lines and all("==" in line for line in lines)
        assert not any(line.split("==")[0] in ("torch", "torchvision", "numpy") for line in lines)
