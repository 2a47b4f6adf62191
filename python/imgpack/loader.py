"""Ready batches, epoch after epoch."""
from __future__ import annotations

import importlib
import json
import os
import sys
from dataclasses import dataclass, replace
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, Union, cast

import numpy as np

from . import _imgpack
from ._imgpack import Damage, Dataset
from .augmentation import Augmentation, to_native
from .batch import Arrays, Batch, converter
from .errors import InvalidArgumentError
from .options import set_options
from .packing import PathLike


@dataclass(frozen=True)
class Share:
    """One of several datasets that a Loader mixes, or a dataset of which only a part is wanted.

    Attributes:
        dataset: path or Dataset.
        split: None for all records.
        records: only these record numbers, in this order unless shuffled; instead of a split.
        class_weights: draw with replacement, in proportion to a weight for each class.
        record_weights: the same with a weight for each record, in their order.
        proportion: of the samples, relative to the other datasets'.
    """

    dataset: Union[PathLike, Dataset]
    split: Optional[str] = None
    records: Optional[Sequence[int]] = None
    class_weights: Optional[Sequence[float]] = None
    record_weights: Optional[Sequence[float]] = None
    proportion: float = 1.0

    def _opened(self) -> Dataset:
        return self.dataset if isinstance(self.dataset, Dataset) else Dataset(self.dataset)

    def _native(self) -> _imgpack.DatasetShare:
        return _imgpack.DatasetShare(self._opened(), self.split or "", _record_numbers(self.records),
                                     _values("class_weights", self.class_weights),
                                     _values("record_weights", self.record_weights), self.proportion)


def _values(name: str, values: Optional[Sequence[Any]], dtype: Any = np.float64) -> Any:
    if values is None:
        return None
    array = np.asarray(values)
    if array.ndim != 1 or array.size == 0:
        raise InvalidArgumentError(f"{name} is to be a list of numbers that is not empty")
    return np.ascontiguousarray(array, dtype)


def _record_numbers(records: Optional[Sequence[int]]) -> Any:
    array = None if records is None else np.asarray(records)
    if array is not None and array.size != 0 and (array.dtype.kind not in "iu" or array.min() < 0):
        raise InvalidArgumentError("records is to be a list of record numbers, from 0 on")
    return _values("records", records, np.int64)


Data = Union[PathLike, Dataset, Share]


class Loader:
    """Shuffled, decoded and augmented batches of a packed dataset, made by threads ahead of their use, in order.

        loader = imgpack.Loader("imagenet.rec", split="train", batch_size=256, seed=1, transform=[
            imgpack.RandomResizedCrop(224), imgpack.HorizontalFlip(), imgpack.Normalize.imagenet()])
        for epoch in range(90):
            for images, labels in loader:
                ...

    The batches depend on seed, epoch and global batch size alone: not on threads, ranks or restarts. Each ``iter()``
    begins the next epoch, and ends one that was under way. Leaving a loop early stops its work. A loader may be used by
    several threads and after a fork; pickled, it goes on where it stood.

    Args:
        data: path or Dataset; a Share of one; or a list of these, which are mixed, evenly unless Shares say otherwise.
        split: of the dataset; None for all records.
        batch_size: of each rank; default 64.
        device: where batches are made and handed out: "cpu"; "cuda:N"; "cuda", torch's current device, or the first one
            where torch is not used; or a torch.device. A CUDA device decodes baseline JPEGs with a segment index and
            raw images; of other records the CPU makes the finished image. A loader with a CUDA device can't be used in
            a child after a fork: start such processes with spawn.
        decode_device: "cuda:M", to make the batches for another CUDA device; None: that one does.
        transport: how records come to a CUDA device: "zero_copy" (it reads the dataset's mapping), "pinned" (threads
            copy), "gds" (GPUDirect Storage), or "auto": the first that is possible; stats()["transport"] says why.
        device_memory: bytes of the device's memory for decoding, besides the batches; 0: chosen.
        registered_memory: most bytes of the dataset's files that may be kept in memory for "zero_copy"; 0: half of what
            is free.
        seed: of order and augmentation.
        dtype: of images: "uint8" (0 to 255), "float32", "float16" or "bfloat16" (0 to 1, or what Normalize makes of
            that); also as torch's or NumPy's dtype.
        layout: "nchw", or "channels_last": the same shape [N, 3, H, W] with torch's channels_last strides.
        transform: list of imgpack's augmentations. Without a step that gives all images one size, they must have one.
        shuffle: "full" or True: a permutation of all records. "block": of blocks of neighbouring records, and within
            windows of blocks, for slow disks. "none" or False: in the order of the file.
        last_batch: where an epoch does not fill the last batch: "partial" (default), "drop" it, or "pad" it with
            samples whose mask is False.
        drop_last: True stands for last_batch="drop".
        rank, world_size: this process's number among how many. Default: torch.distributed's, if torch is imported and
            it is initialised, else 0 of 1. Settled here: a loader that is pickled keeps its rank, so each process of
            several makes its own.
        global_batch_size: of all ranks together, instead of batch_size.
        threads: that decode; 0: found by trying while running, from the CPUs that this process may use to twice as
            many.
        local_ranks: processes with a loader on this machine, which share its CPUs. Default: what torchrun says, where
            the rank is torch.distributed's, else 1.
        prefetch_batches: made ahead of their use; 0: a few.
        prefetch_next_epoch: make the first batches of the next epoch while the last ones of this are used. False for
            evaluations now and then: their memory would stay taken in between.
        on_damage: a record that can't be decoded will "stop" the epoch with a DamagedError when its batch is due
            (default), or is to be "skip"ped: a copy of another sample, with a False mask, stands in its place.
        records, class_weights, record_weights: see Share.
        samples_per_epoch: with weights or several datasets; 0: as many as there are records.
        block_records, window_blocks: with shuffle="block": records a block (0: about 4 MiB), blocks a window.
        classes: number of classes of soft labels; 0: as many as the dataset names.
        verify_checksums: of each record that is read.
        read: "auto", "mapped" (without read-ahead), "ahead" (mapped, with read-ahead) or "unbuffered" (past the page
            cache).
        read_threads: with "unbuffered"; 0: 8.
        max_pixels: larger images count as damaged.
        output: "torch" tensors, "numpy" arrays (on the CPU only), objects for "dlpack", that is with __dlpack__, for
            CuPy or JAX; or "auto": tensors if torch is installed, else arrays.
        with_indices, with_mask: yield also Batch.records, and Batch.mask, behind the labels.
    """

    def __init__(self, data: Union[Data, Sequence[Data]], *, split: Optional[str] = None, batch_size: int = 0,
                 device: Any = "cpu", decode_device: Any = None, transport: str = "auto", device_memory: int = 0,
                 registered_memory: int = 0, seed: int = 0, dtype: Any = "float32", layout: str = "nchw",
                 transform: Sequence[Augmentation] = (), shuffle: Union[str, bool] = "full",
                 last_batch: Optional[str] = None, drop_last: bool = False, rank: Optional[int] = None,
                 world_size: Optional[int] = None, global_batch_size: int = 0, threads: int = 0,
                 local_ranks: Optional[int] = None, prefetch_batches: int = 0, prefetch_next_epoch: bool = True,
                 on_damage: str = "stop",
                 records: Optional[Sequence[int]] = None, class_weights: Optional[Sequence[float]] = None,
                 record_weights: Optional[Sequence[float]] = None, samples_per_epoch: int = 0, block_records: int = 0,
                 window_blocks: int = 64, classes: int = 0, verify_checksums: bool = False, read: str = "auto",
                 read_threads: int = 0, max_pixels: int = _imgpack.DEFAULT_MAX_PIXELS, output: str = "auto",
                 with_indices: bool = False, with_mask: bool = False) -> None:
        if on_damage not in ("stop", "skip"):
            raise InvalidArgumentError(f"on_damage can't be {on_damage!r}: it is 'stop' or 'skip'")
        rank, world_size, local_ranks = _ranks(rank, world_size, local_ranks)
        shares = _shares(data, split, records, class_weights, record_weights)
        options = dict(
            batch_size=batch_size, device=_device_name(device),
            decode_device=None if decode_device is None else str(decode_device), transport=transport,
            device_memory=device_memory, registered_memory=registered_memory, seed=seed, dtype=_dtype_name(dtype),
            layout="nhwc" if layout == "channels_last" else layout, shuffle=_shuffle_name(shuffle),
            last_batch=_last_batch(last_batch, drop_last), rank=rank, world_size=world_size, local_ranks=local_ranks,
            global_batch_size=global_batch_size, threads=threads, prefetch_batches=prefetch_batches,
            prefetch_next_epoch=prefetch_next_epoch,
            skip_damage=on_damage == "skip", samples_per_epoch=samples_per_epoch, block_records=block_records,
            window_blocks=window_blocks, classes=classes, verify_checksums=verify_checksums, read=read,
            read_threads=read_threads, max_pixels=max_pixels)
        self._make(shares, options, tuple(transform), output, (with_indices, with_mask))

    def _make(self, shares: List[Share], options: Dict[str, Any], transform: Tuple[Augmentation, ...], output: str,
              extras: Tuple[bool, bool]) -> None:
        """Makes the loader from arguments that are settled, as they are pickled."""
        self._arguments = (shares, options, transform, output, extras)
        self._arrays: Arrays = converter(output)
        self._arrays.check(options["dtype"], options["device"])
        native = _imgpack.LoaderOptions()
        set_options(native, options)
        native.transform = [to_native(step) for step in transform]
        self._native = _imgpack.Loader([share._native() for share in shares], native)
        self._next_epoch: Optional[int] = None

    def __getstate__(self) -> Dict[str, Any]:
        state = self.state_dict() if self._native.used else None
        if state is not None and self._next_epoch is not None:
            state.update(epoch=self._next_epoch, samples=0)
        return {"arguments": self._arguments, "state": state, "next_epoch": self._next_epoch}

    def __setstate__(self, state: Dict[str, Any]) -> None:
        self._make(*state["arguments"])
        if state["state"] is not None:
            self.load_state_dict(state["state"])
        self._next_epoch = state["next_epoch"]

    def __repr__(self) -> str:
        shares, options, transform, _, _ = self._arguments
        data = ", ".join(f"{str(share._opened().path)!r}" for share in shares)
        return (f"imgpack.Loader({data}, rank={options['rank']}, world_size={options['world_size']}, "
                f"transform={list(transform)}): {self.samples} samples, {len(self)} batches")

    def __len__(self) -> int:
        """Batches of a whole epoch, the same for every rank."""
        return self._native.batches

    @property
    def samples(self) -> int:
        """Samples of an epoch, of all ranks."""
        return self._native.samples

    def __iter__(self) -> Epoch:
        """Begins the next epoch; or set_epoch()'s; or goes on in that of load_state_dict()."""
        return self._begin(None, whole=False)

    def epoch(self, number: int) -> Epoch:
        """Begins epoch `number`, as iter() does."""
        return self._begin(number, whole=False)

    def batches(self, number: Optional[int] = None) -> Epoch:
        """The same with Batch objects instead of tuples: begins the next epoch, or epoch `number`."""
        return self._begin(number, whole=True)

    def set_epoch(self, number: int) -> None:
        """The next iter() begins epoch `number`."""
        self._next_epoch = number

    def state_dict(self) -> Dict[str, Any]:
        """Where the run stands after the last batch that was handed out: a dict of numbers and texts, fit for JSON."""
        state: Dict[str, Any] = json.loads(self._native.state())
        return state

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Stands where `state` does; the next iter() goes on from there, also on another number of ranks.

        Raises InvalidArgumentError for the state of another dataset, or of another way of sampling it.
        """
        self._native.restore(json.dumps(dict(state)))
        self._next_epoch = None

    def stats(self) -> Dict[str, Union[int, float, bool, str]]:
        """What was delivered and read, how long the threads have done what, and what waited for what.

        device_samples and host_samples: how many the CUDA device has made, and CPU threads. Seconds are those of all
        threads together since the loader was made; device_seconds those of the CUDA device, batch by batch.
        wait_seconds: the program waited for batches, the loader is the bound; idle_seconds: the loader's threads waited
        for the program, or for the CUDA device.
        """
        return self._native.stats()

    def damage(self) -> List[Damage]:
        """Damaged records met with on_damage="skip": the first 1000 of them."""
        return self._native.damage()

    def _begin(self, number: Optional[int], whole: bool) -> Epoch:
        if number is None:
            number = self._next_epoch
        native = self._native.epoch(number)
        self._next_epoch = None
        return Epoch(native, self._arrays, None if whole else self._arguments[4])


class Epoch:
    """A pass over the data, an iterator. Deleting it, early or not, stops the work for it."""

    def __init__(self, native: _imgpack.Epoch, arrays: Arrays, extras: Optional[Tuple[bool, bool]]) -> None:
        self._native = native
        self._arrays = arrays
        self._extras = extras

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        """A tuple of images, labels and what was asked for besides; or a Batch.

        Waiting ends on Ctrl-C. Raises what the loader met on its way, DamagedError for instance; then it is over.
        """
        batch = Batch(self._native.__next__(), self._arrays)
        if self._extras is None:
            return batch
        with_indices, with_mask = self._extras
        extras = ((batch.records,) if with_indices else ()) + ((batch.mask,) if with_mask else ())
        return (batch.images, batch.targets) + extras

    def __len__(self) -> int:
        """Batches that are left."""
        return len(self._native)

    @property
    def number(self) -> int:
        """Of the epoch, from 0."""
        return self._native.number


def _shares(data: Union[Data, Sequence[Data]], split: Optional[str], records: Optional[Sequence[int]],
            class_weights: Optional[Sequence[float]], record_weights: Optional[Sequence[float]]) -> List[Share]:
    parts: Sequence[Data] = data if isinstance(data, (list, tuple)) else [cast(Data, data)]
    given = [name for name, value in (("records", records), ("class_weights", class_weights),
                                      ("record_weights", record_weights)) if value is not None]
    if given and len(parts) != 1:
        raise InvalidArgumentError(f"{given[0]} are of one dataset; of several, each Share has its own")
    shares = []
    for part in parts:
        if not isinstance(part, Share):
            part = Share(part, split, records, class_weights, record_weights)
        elif split is not None or given:
            raise InvalidArgumentError(f"a Share says itself what its {given[0] if given else 'split'} is")
        shares.append(replace(part, dataset=part._opened()))
    return shares


def _ranks(rank: Optional[int], world_size: Optional[int], local_ranks: Optional[int]) -> Tuple[int, int, int]:
    if (rank is None) != (world_size is None):
        raise InvalidArgumentError("rank and world_size belong together")
    if rank is not None and world_size is not None:
        return rank, world_size, local_ranks or 1
    if "torch" not in sys.modules:
        return 0, 1, local_ranks or 1
    torch: Any = importlib.import_module("torch")  # waits where another thread is still importing it
    if not torch.distributed.is_available() or not torch.distributed.is_initialized():
        return 0, 1, local_ranks or 1
    if local_ranks is None:
        local_ranks = int(os.environ.get("LOCAL_WORLD_SIZE", "1"))
    return torch.distributed.get_rank(), torch.distributed.get_world_size(), local_ranks


def _device_name(device: Any) -> str:
    """"cuda:1", also of torch.device; "cuda" is what it is in torch."""
    name = str(device)
    if name == "cuda" and "torch" in sys.modules:
        torch: Any = importlib.import_module("torch")
        if torch.cuda.is_available():
            return f"cuda:{torch.cuda.current_device()}"
    return name


def _dtype_name(dtype: Any) -> str:
    """"float32", also of torch.float32, numpy.float32 and numpy.dtype("float32")."""
    if isinstance(dtype, (np.dtype, type)):
        return np.dtype(dtype).name
    name = str(dtype)
    return name[len("torch."):] if name.startswith("torch.") else name


def _shuffle_name(shuffle: Union[str, bool]) -> str:
    if isinstance(shuffle, str):
        return shuffle
    return "full" if shuffle else "none"


def _last_batch(last_batch: Optional[str], drop_last: bool) -> str:
    if drop_last and last_batch not in (None, "drop"):
        raise InvalidArgumentError(f"drop_last=True contradicts last_batch={last_batch!r}")
    return "drop" if drop_last else last_batch or "partial"
