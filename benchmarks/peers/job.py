"""The job that all peers do, and what each of them is to the runner.

A peer reads single records in random order, and makes epochs of float32 batches [N, 3, size, size] with int64 labels out of
RandomResizedCrop(size), a random flip and ImageNet's mean and deviation.
"""
import importlib
import itertools
import os
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

MEAN = (0.485, 0.456, 0.406)
STD = (0.229, 0.224, 0.225)
SCALE = (0.08, 1.0)
RATIO = (3 / 4, 4 / 3)
#: Samples of the buffer that peers without random access shuffle in.
SHUFFLE_BUFFER = 256


@dataclass(frozen=True)
class Job:
    """folder: one of class folders. work: where peers put their files. workers: processes, or threads, of each peer.

    crop=False leaves out what is random: images, which all must be size x size, are normalised only.
    """

    folder: Path
    work: Path
    batch: int
    workers: int
    size: int = 224
    crop: bool = True

    def samples(self):
        """(path, label) of each image, as ImageFolder lists them."""
        from torchvision.datasets import ImageFolder
        return ImageFolder(str(self.folder)).samples


class NotOffered(Exception):
    """A peer has nothing like what was asked for; the message says why."""


class Peer:
    """A way to do the job. Everything that a way imports besides this is imported when it is asked to work."""

    #: On the command line.
    key = ""
    name = ""
    #: Its requirements are requirements-PACKAGE.txt; "" where the system's packages are enough.
    package = ""
    #: Modules without which it can't work.
    needs = ()
    #: Who decodes and resizes.
    pixels = "Pillow"
    #: What its shuffling is.
    order = "full shuffle"
    #: Whether images that are not resized have Pillow's pixels.
    exact = True

    def __init__(self, job):
        self.job = job

    def unsuitable(self):
        """Why it can't do this job on this machine, whatever is installed; or None."""
        return None

    def why_not(self, not_installed=None):
        """Why it can't work here, or None. not_installed: what is known of why its package is missing."""
        reason = self.unsuitable()
        for module in self.needs if reason is None else ():
            try:
                importlib.import_module(module)
            except Exception as error:  # a broken package raises anything
                return not_installed or f"{module} can't be imported: {type(error).__name__}: {error}"
        return reason

    def prepare(self):
        """Writes the files that it reads below job.work; returns the paths of them."""
        raise NotImplementedError

    def random_read(self):
        """A function that gives the stored bytes of the record of a number from 0. Raises NotOffered."""
        raise NotImplementedError

    def batches(self):
        """An epoch of tuples of tensors, images and labels. A batch need not stay valid when the next one is there."""
        raise NotImplementedError

    def close(self):
        """Ends its worker processes and threads."""


class LoaderPeer(Peer):
    """One whose batches come from a torch DataLoader, whose workers stay from epoch to epoch."""

    _loader = None

    def dataset(self):
        raise NotImplementedError

    def make_loader(self):
        import torch
        dataset = self.dataset()
        shuffle = None if isinstance(dataset, torch.utils.data.IterableDataset) else True
        return torch.utils.data.DataLoader(dataset, self.job.batch, shuffle=shuffle, num_workers=self.job.workers,
                                           persistent_workers=self.job.workers > 0)

    def batches(self):
        if self._loader is None:
            self._loader = self.make_loader()
        return iter(self._loader)

    def close(self):
        self._loader = None


def stored_bytes(paths):
    """Of files and folders."""
    files = itertools.chain.from_iterable(path.rglob("*") if path.is_dir() else [path] for path in map(Path, paths))
    return sum(os.path.getsize(file) for file in files if file.is_file())


def scale_and_shift():
    """pixel * scale - shift is the normalised value of an 8-bit pixel."""
    return (1 / (255 * np.array(STD))).astype(np.float32), (np.array(MEAN) / np.array(STD)).astype(np.float32)
