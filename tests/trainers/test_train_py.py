"""examples/train.py as a user runs it, on one process and with DistributedDataParallel on two."""
import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import torch

import imgpack
from coloured_images import CLASSES, TRAIN, make_images
from epoch_lines import epoch_lines, majority

HERE = Path(__file__).resolve().parent
SCRIPT = HERE.parents[1] / "examples" / "train.py"
SMALL = ["--size", 64, "--width", 0.35, "--batch-size", 16, "--lr", 0.015, "--threads", 2]
SAMPLES = TRAIN * len(CLASSES)
TIMEOUT = 240
# One thread for torch: sums over several have no fixed order.
ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1"}


@pytest.fixture(scope="module")
def packed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("packed")
    imgpack.build(make_images(folder / "images"), folder / "images.rec")
    return folder / "images.rec"


def environments(ranks):
    """What torchrun sets (that of torch 1.13 fails on Python 3.11)."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    return [{"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(ranks), "LOCAL_WORLD_SIZE": str(ranks),
             "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)} for rank in range(ranks)]


def train(*arguments, ranks=0, code=0, script=(SCRIPT,)):
    """Runs the trainer (ranks=0: without torch.distributed) and gives what all ranks have printed together."""
    command = [sys.executable, *map(str, script), *map(str, arguments)]
    processes = [subprocess.Popen(command, env={**ENVIRONMENT, **extra}, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  text=True) for extra in (environments(ranks) if ranks else [{}])]
    try:
        printed = [process.communicate(timeout=TIMEOUT) for process in processes]
    finally:
        for process in processes:
            process.kill()
    assert [process.returncode for process in processes] == [code] * len(processes), printed
    return "".join(out if code == 0 else errors for out, errors in printed)


def same_weights(first, second):
    first, second = (torch.load(path) for path in (first, second))
    assert first["model"].keys() == second["model"].keys() and first["loader"] == second["loader"]
    momenta = [[part["momentum_buffer"] for part in run["optimizer"]["state"].values()] for run in (first, second)]
    assert len(momenta[0]) == len(momenta[1]) == 3 * 52 + 2
    return all(torch.equal(first["model"][name], second["model"][name]) for name in first["model"]) and all(
        map(torch.equal, *momenta))


def test_it_learns(packed):
    printed = train(packed, *SMALL, "--epochs", 10, "--schedule", "one-cycle", "--label-smoothing", 0.1)
    lines = epoch_lines(printed)
    assert [(line.number, line.of) for line in lines] == [(number, 10) for number in range(1, 11)]
    assert lines[-1].loss < 0.7 * lines[0].loss
    assert majority(printed) == 100 / len(CLASSES)
    assert lines[-1].top1 > 60


@pytest.mark.skipif("IMGPACK_TRAIN" not in os.environ, reason="there is no C++ trainer: IMGPACK_TRAIN is not set")
@pytest.mark.parametrize("schedule", ["cosine", "one-cycle"])
def test_both_trainers_give_the_same(packed, schedule):
    """Network, first weights, batches, dropout, learning rates and optimizer are alike."""
    options = [packed, *SMALL, "--epochs", 2, "--seed", 5, "--schedule", schedule]
    cpp = subprocess.run([os.environ["IMGPACK_TRAIN"], *map(str, options)], capture_output=True, text=True, check=True,
                         timeout=TIMEOUT, env=ENVIRONMENT)
    lines, expected = epoch_lines(train(*options)), epoch_lines(cpp.stdout)
    assert len(lines) == len(expected) == 2 and lines[0].loss == pytest.approx(expected[0].loss, abs=1e-3)
    assert lines[1].loss == pytest.approx(expected[1].loss, abs=1e-2)  # another build of libtorch may round differently


def test_a_stop_in_an_epoch_changes_nothing(packed, tmp_path):
    options = [packed, *SMALL, "--epochs", 2, "--checkpoint"]
    whole = train(*options, tmp_path / "whole.pt")
    stopped = train(*options, tmp_path / "parts.pt", "--stop-after", 8)
    assert "stopped" in stopped
    resumed = train(*options, tmp_path / "parts.pt", "--resume")
    assert f"going on in epoch 2, after 32 of its {SAMPLES} images" in resumed
    assert epoch_lines(stopped + resumed) == epoch_lines(whole) and len(epoch_lines(whole)) == 2
    assert same_weights(tmp_path / "whole.pt", tmp_path / "parts.pt")


def test_autocast(packed):
    options = [packed, *SMALL, "--epochs", 1, "--autocast"]
    if int(torch.__version__.split(".")[0]) < 2:
        assert "--autocast: torch 1." in train(*options, code=1)
    else:
        line, = epoch_lines(train(*options))
        assert 0 < line.loss < 3


def test_errors(packed, tmp_path):
    assert "nothing.rec" in train(tmp_path / "nothing.rec", code=1)
    assert "fewer than a batch" in train(packed, "--batch-size", SAMPLES + 1, code=1)
    assert "--checkpoint" in train(packed, "--resume", code=2)
    assert "needs --device cuda" in train(packed, "--loader-device", "cuda", code=2)
    if not torch.cuda.is_available():
        printed = train(packed, "--device", "cuda", code=1)
        assert "sees no CUDA device" in printed and "Traceback" not in printed


def seen(folder):
    """Records of train that the steps have used, by epoch, and how many each rank had in each step."""
    records, parts = {}, {}
    for path in sorted(folder.glob("*.json")):
        for epoch, step, numbers in json.loads(path.read_text()):
            records.setdefault(epoch, []).extend(numbers)
            parts.setdefault((epoch, step), []).append(len(numbers))
    return records, parts


def test_two_ranks_and_then_one_see_each_image_once(packed, tmp_path):
    """Two gloo ranks stop in the second epoch, one process goes on."""
    arguments = [packed, *SMALL, "--epochs", 3, "--checkpoint", tmp_path / "run.pt"]
    first, second = tmp_path / "two ranks", tmp_path / "one rank"
    first.mkdir()
    second.mkdir()
    stopped = train(first, *arguments, "--stop-after", 8, ranks=2, script=(HERE / "train_recording.py", SCRIPT))
    assert stopped.count("stopped") == 1
    resumed = train(second, *arguments, "--resume", script=(HERE / "train_recording.py", SCRIPT))
    assert f"going on in epoch 2, after 32 of its {SAMPLES} images" in resumed
    assert [line.number for line in epoch_lines(stopped + resumed)] == [1, 2, 3]

    two, parts = seen(first)
    one, rest = seen(second)
    assert all(sizes == [8, 8] for sizes in parts.values())
    assert all(sizes == [16] for sizes in rest.values())
    assert sorted(two[0]) == sorted(two[1] + one[1]) == sorted(one[2]) == list(range(SAMPLES))
    assert len(two[1]) == 32 and two[0] != one[2]


def test_ranks_train_as_one_process_does(packed, tmp_path):
    """The same weights on both ranks, and the same first batch: the mean loss before the first step is that of one."""
    options = [packed, *SMALL, "--epochs", 1, "--batch-size", 15]
    printed = train(*options, ranks=2)
    line, = epoch_lines(printed)
    alone, = epoch_lines(train(*options))
    assert line.top1 == pytest.approx(alone.top1, abs=30) and line.loss == pytest.approx(alone.loss, rel=0.2)
