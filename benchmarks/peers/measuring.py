"""Turns of peers at the two measurements, and rounds of turns."""
import time
import traceback

import numpy as np

from job import NotOffered, stored_bytes
from results import Rounds

MEASURES = ("random_read", "loader")
#: An epoch that lasts so many times the seconds of a turn is not waited for.
PATIENCE = 4


class Contestant:
    """A peer that is ready, or the reason why not, and its figures."""

    def __init__(self, peer, not_installed=None):
        """not_installed: as of Peer.why_not."""
        self.peer = peer
        self.key, self.name = peer.key, peer.name
        self.status = "measured"
        self.stored = None
        self.figures = {}       # measure -> Rounds of records or images a second
        self.not_offered = {}   # measure -> why
        self.reason = peer.why_not(not_installed)
        if self.reason is not None:
            self.status = "skipped"

    def attempt(self, action):
        """What action() gives; None when it fails, which is then this contestant's status."""
        if self.status != "measured":
            return None
        try:
            return action()
        except Exception as error:
            traceback.print_exc()
            self.status, self.reason = "failed", f"{type(error).__name__}: {error}"
            return None

    def prepare(self):
        paths = self.attempt(self.peer.prepare)
        if paths is not None:
            self.stored = stored_bytes(paths)

    def takes_part(self, measure):
        return self.status == "measured" and measure not in self.not_offered


class RandomReads:
    """Records in an order that all contestants share, one thread, each a call in Python that gives it memory of its own."""

    name = "random_read"

    def __init__(self, records, seconds):
        self.order = np.random.default_rng(1).permutation(records).tolist()
        self.seconds = seconds
        self.readers = {}

    def warm_up(self, contestant):
        try:
            read = self.readers[contestant.key] = contestant.peer.random_read()
        except NotOffered as error:
            contestant.not_offered[self.name] = str(error)
            return
        for index in self.order:
            read(index)

    def turn(self, contestant):
        """Records a second."""
        read, records = self.readers[contestant.key], 0
        begin = time.perf_counter()
        while True:
            for at in range(0, len(self.order), 256):
                part = self.order[at:at + 256]
                for index in part:
                    read(index)
                records += len(part)
                elapsed = time.perf_counter() - begin
                if elapsed >= self.seconds:
                    return records / elapsed

    def close(self):
        self.readers.clear()


class Loading:
    """Whole epochs, each from its start to its last batch."""

    name = "loader"

    def __init__(self, job, records, seconds):
        self.job = job
        self.records = records
        self.seconds = seconds

    def warm_up(self, contestant):
        """An epoch; checks that the batches are what was asked for."""
        count = 0
        for images, labels in contestant.peer.batches():
            shape = (len(labels), 3, self.job.size, self.job.size)
            if tuple(images.shape) != shape or str(images.dtype) != "torch.float32" or len(labels) > self.job.batch:
                raise ValueError(f"a batch is {images.dtype} {tuple(images.shape)}, not float32 {shape}")
            count += len(labels)
        if count != self.records:
            raise ValueError(f"an epoch has {count} samples, not {self.records}")

    def turn(self, contestant):
        """Images a second."""
        samples = 0
        begin = time.perf_counter()
        while True:
            for _, labels in contestant.peer.batches():
                samples += len(labels)
                if time.perf_counter() - begin > PATIENCE * self.seconds:
                    rate = samples / (time.perf_counter() - begin)
                    time.sleep(2)  # until workers have done what they had begun, so that the next peer has the CPUs
                    return rate
            elapsed = time.perf_counter() - begin
            if elapsed >= self.seconds:
                return samples / elapsed

    def close(self):
        pass


def measure(measurement, contestants, rounds):
    """Rounds in which each contestant has a turn; each round begins with another one."""
    name = measurement.name
    for contestant in contestants:
        if contestant.takes_part(name):
            contestant.attempt(lambda: measurement.warm_up(contestant))
    rates = {}
    for number in range(rounds):
        shift = number * max(1, len(contestants) // rounds) % len(contestants)
        for contestant in contestants[shift:] + contestants[:shift]:
            if contestant.takes_part(name):
                rate = contestant.attempt(lambda: measurement.turn(contestant))
                rates.setdefault(contestant.key, []).append(rate)
    for contestant in contestants:
        if contestant.takes_part(name):
            contestant.figures[name] = Rounds(rates[contestant.key])
    measurement.close()
