"""How a loader is used over time: epochs, states, other processes and threads, interruptions."""
import gc
import io
import json
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
import torch

import imgpack
from loading import CROP, flat, loader, records_of, same_batches


def test_epochs(packed):
    train = loader(packed)
    assert [iter(train).number for _ in range(3)] == [0, 1, 2]
    assert train.epoch(7).number == 7 and iter(train).number == 8
    train.set_epoch(3)
    assert iter(train).number == 3 and iter(train).number == 4
    epoch = train.epoch(0)
    assert len(epoch) == 5
    next(epoch)
    assert len(epoch) == 4
    iter(train)
    with pytest.raises(imgpack.InvalidArgumentError, match="over"):
        next(epoch)


@pytest.mark.parametrize("keep", [lambda state: json.loads(json.dumps(state)), dict,
                                  lambda state: _through_torch(state)], ids=["json", "dict", "torch"])
def test_a_state_goes_on(packed, keep):
    train = loader(packed)
    whole = [list(train.epoch(number)) for number in range(3)]
    train = loader(packed)
    list(train)
    epoch = iter(train)
    for _ in range(2):
        next(epoch)
    state = keep(train.state_dict())
    assert state["epoch"] == 1 and state["samples"] == 8

    other = loader(packed, seed=0)  # the state has the seed
    other.load_state_dict(state)
    assert same_batches(other, whole[1][2:]) and same_batches(other, whole[2])
    again = loader(packed)
    again.load_state_dict(state)
    again.set_epoch(1)
    assert same_batches(again, whole[1][2:])


def _through_torch(state):
    file = io.BytesIO()
    torch.save({"loader": state}, file)
    return torch.load(io.BytesIO(file.getvalue()))["loader"]


def test_a_state_goes_on_with_other_ranks(packed):
    epoch = loader(packed, batch_size=6).batches()
    seen = next(epoch).records.tolist()
    state = next(loader(packed, batch_size=3, rank=1, world_size=2).batches()).state_dict()
    rest = []
    for rank in range(3):
        part = loader(packed, batch_size=2, rank=rank, world_size=3)
        part.load_state_dict(state)
        rest += flat(records_of(part.batches()))
    assert sorted(seen + rest) == list(range(18))


def test_states_that_do_not_fit(packed):
    state = loader(packed).state_dict()
    for other in (loader(packed, split="val"), loader(packed, shuffle=False)):
        with pytest.raises(imgpack.InvalidArgumentError, match="another"):
            other.load_state_dict(state)
    with pytest.raises(imgpack.InvalidArgumentError, match="no state of a loader"):
        loader(packed).load_state_dict({"epoch": 1})


def test_pickles_with_its_state(packed):
    train = loader(packed, transform=CROP + [imgpack.MixUp()], batch_size=5, with_mask=True)
    epoch = iter(train)
    next(epoch)
    copy = pickle.loads(pickle.dumps(train))
    assert copy.state_dict() == train.state_dict() and same_batches(copy, epoch)


def test_pickles_between_epochs(packed):
    train = loader(packed)
    fresh = pickle.loads(pickle.dumps(train))
    assert same_batches(fresh.epoch(3), train.epoch(3))  # the first one may be any
    train.set_epoch(7)
    copy = pickle.loads(pickle.dumps(train))
    assert same_batches(copy, train) and same_batches(copy.epoch(2), train.epoch(2))


def _records_in_child(train, answers):
    answers.put(records_of(train.batches()))


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_other_processes(packed, method):
    train = loader(packed)
    list(train)  # its threads run
    expected = records_of(loader(packed).batches(1))
    context = multiprocessing.get_context(method)
    answers = context.Queue()
    child = context.Process(target=_records_in_child, args=(train, answers))
    child.start()
    assert answers.get(timeout=120) == expected
    child.join()
    assert child.exitcode == 0
    assert records_of(train.batches()) == expected  # the parent goes on by itself


def test_forked_while_another_thread_waits(packed):
    slow = loader(packed, split=None, records=list(range(24)) * 100, batch_size=2400, threads=1,
                  transform=[imgpack.RandomResizedCrop(160)])
    thread = threading.Thread(target=lambda: next(iter(slow)))
    thread.start()
    while slow.stats()["threads"] == 0 or slow.stats()["wait_seconds"] == 0:
        time.sleep(0.01)
    context = multiprocessing.get_context("fork")
    answers = context.Queue()
    child = context.Process(target=_records_in_child, args=(slow, answers))
    child.start()
    assert len(answers.get(timeout=120)[0]) == 2400
    child.join()
    thread.join()


def _threads():
    return len(os.listdir("/proc/self/task"))


def test_leaving_early_leaves_nothing_behind(packed):
    gc.collect()
    before = _threads()
    train = loader(packed, threads=2)
    for _ in train:
        break
    assert _threads() > before
    with pytest.raises(ZeroDivisionError):
        for images, _ in train:
            1 / 0
    del train, images
    gc.collect()
    assert _threads() == before


@pytest.mark.parametrize("ending", [
    "epoch = iter(train); next(epoch)",                                             # a global of __main__
    "train.self = train; epoch = iter(train); batch = next(epoch)",                 # a cycle
    "import sys; sys.kept = [train, iter(train)]",                                  # kept to the very end
    "import threading; threading.Thread(target=lambda: [x for _ in range(10**6) for x in train], daemon=True).start()",
    "import os; epoch = iter(train); child = os.fork(); child and os.waitpid(child, 0)",  # of a child of it, too
    "raise SystemExit(0)",
])
def test_programs_end_in_mid_epoch(packed, ending):
    program = (f"import imgpack\ntrain = imgpack.Loader({str(packed)!r}, batch_size=2,\n"
               f"    transform=[imgpack.RandomResizedCrop(64)], output='numpy')\n{ending}\n")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")


def test_while_another_thread_imports_torch(packed, tmp_path):
    (tmp_path / "torch.py").write_text("import time\ntime.sleep(1)\nclass distributed:\n    is_available = bool\n")
    program = ("import sys, threading, imgpack\n"
               "threading.Thread(target=lambda: __import__('torch')).start()\n"
               "while 'torch' not in sys.modules:\n    pass\n"
               f"imgpack.Loader({str(packed)!r}, transform=[imgpack.Resize((8, 8))], output='numpy')\n")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120,
                          env={**os.environ, "PYTHONPATH": str(tmp_path)})
    assert (done.returncode, done.stderr) == (0, "")


def test_ctrl_c_while_waiting(packed):
    slow = loader(packed, split=None, records=list(range(24)) * 400, batch_size=9600, threads=1,
                  transform=[imgpack.RandomResizedCrop(160)])  # the one batch takes seconds
    epoch = iter(slow)

    def interrupt():
        time.sleep(0.1)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        next(epoch)
    assert slow.stats()["batches"] == 0
    images, _ = next(epoch)  # nothing was lost
    assert len(images) == 9600


def test_threads_may_share_an_epoch(packed):
    train = loader(packed, split=None, records=list(range(24)) * 50)
    epoch = train.batches()
    records = []

    def take():
        for batch in epoch:
            records.extend(batch.records.tolist())
            train.state_dict(), train.stats()

    threads = [threading.Thread(target=take) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert np.bincount(records).tolist() == [50] * 24


def test_other_python_threads_run_while_it_waits(packed):
    slow = loader(packed, split=None, records=list(range(24)) * 50, batch_size=1200, threads=1,
                  transform=[imgpack.RandomResizedCrop(160)])
    counted = [0]
    done = threading.Event()

    def count():
        while not done.wait(0.001):
            counted[0] += 1

    thread = threading.Thread(target=count)
    thread.start()
    epoch = iter(slow)
    before = counted[0]
    next(epoch)
    during = counted[0] - before
    done.set()
    thread.join()
    assert during > 5


def test_pickles_with_the_epoch_that_was_set(packed):
    expected = list(loader(packed).epoch(5))
    fresh = loader(packed)
    fresh.set_epoch(5)
    assert same_batches(pickle.loads(pickle.dumps(fresh)), expected)
    used = loader(packed)
    next(iter(used))
    used.set_epoch(5)
    assert same_batches(pickle.loads(pickle.dumps(used)), expected)
    assert same_batches(pickle.loads(pickle.dumps(loader(packed))).epoch(5), expected)


def test_a_forked_child_that_only_ends(packed):
    run = loader(packed)
    epoch = iter(run)
    next(epoch)
    for _ in range(3):
        child = os.fork()
        if child == 0:
            signal.alarm(30)
            del epoch, run  # waits for no thread of the parent's
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
    assert len(list(epoch)) == len(run) - 1

