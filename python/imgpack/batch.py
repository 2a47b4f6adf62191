"""Batches as tensors of torch or arrays of NumPy, which share the loader's memory."""
from __future__ import annotations

import importlib.util
import json
from typing import Any, Dict

import numpy as np

from . import _imgpack
from .errors import InvalidArgumentError, UnsupportedError

#: What a Loader hands out: "torch" tensors, "numpy" arrays, objects for "dlpack", or "auto": tensors if torch is
#: installed, else arrays.
OUTPUTS = ("auto", "torch", "numpy", "dlpack")


class Arrays:
    """Turns views of a batch's memory into NumPy's arrays."""

    def check(self, dtype: str, device: str) -> None:
        """Raises UnsupportedError if there are no arrays of such values, or none on the device."""
        if device.startswith("cuda"):
            raise UnsupportedError(f"NumPy can't read the memory of {device}: take output='torch', or output='dlpack' "
                                   "for what understands __dlpack__ (CuPy, JAX)")
        if dtype == "bfloat16":
            raise UnsupportedError("NumPy has no bfloat16; take output='torch', or dtype='float16' or 'float32'")

    def deliver(self, batch: _imgpack.Batch) -> None:
        """Before the first array of a batch is made."""

    def share(self, view: Any) -> Any:
        """An array that shares the view's memory and keeps it alive."""
        return np.asarray(view)

    def booleans(self, view: Any) -> Any:
        """The same of a view of bytes, 0 and 1."""
        return np.asarray(view).view(np.bool_)


class Tensors(Arrays):
    """Turns them into tensors, through DLPack."""

    def __init__(self) -> None:
        import torch
        self._torch: Any = torch

    def check(self, dtype: str, device: str) -> None:
        if device.startswith("cuda") and not self._torch.cuda.is_available():
            raise UnsupportedError(f"device {device!r}: torch {self._torch.__version__} has no CUDA here; "
                                   "take output='dlpack', or device='cpu'")

    def deliver(self, batch: _imgpack.Batch) -> None:
        """The tensors are for the stream that is torch's current one now."""
        if batch.device != "cpu":
            batch.use_on(self._torch.cuda.current_stream(batch.device).cuda_stream)

    def share(self, view: Any) -> Any:
        return self._torch.from_dlpack(view)

    def booleans(self, view: Any) -> Any:
        return self._torch.from_dlpack(view).to(self._torch.bool)


class Views(Arrays):
    """Leaves them as they are: objects with __dlpack__ and __dlpack_device__. What is a bool elsewhere is a byte."""

    def check(self, dtype: str, device: str) -> None:
        pass

    def deliver(self, batch: _imgpack.Batch) -> None:
        """CUDA's default stream, which waits for all others but those made not to."""
        if batch.device != "cpu":
            batch.use_on(0)

    def share(self, view: Any) -> Any:
        return view

    def booleans(self, view: Any) -> Any:
        return view


def converter(output: str) -> Arrays:
    """The one for an `output`. Raises InvalidArgumentError, or ImportError where torch is missing."""
    if output not in OUTPUTS:
        raise InvalidArgumentError(f"output can't be {output!r}: it is one of {', '.join(map(repr, OUTPUTS))}")
    if output == "torch" or (output == "auto" and importlib.util.find_spec("torch") is not None):
        return Tensors()
    return Views() if output == "dlpack" else Arrays()


class Batch:
    """A batch of images and labels. Its arrays share one memory, which lives as long as any of them.

    The loader never touches it again: writing into images and labels is allowed.

    On a CUDA device images, labels, soft_labels, targets and mask are there, finished, and for the stream that was
    torch's current one when the batch was delivered: before the loader writes their memory again, it waits for what
    that stream was given until then. For other streams see use_on().
    """

    def __init__(self, native: _imgpack.Batch, arrays: Arrays) -> None:
        self._native = native
        self._arrays = arrays
        arrays.deliver(native)

    def __len__(self) -> int:
        """Samples, those of padding included."""
        return len(self._native)

    def __repr__(self) -> str:
        return f"imgpack.Batch(epoch={self.epoch}, step={self.step}): {len(self)} samples"

    @property
    def images(self) -> Any:
        """[N, 3, H, W], with the strides of channels_last in that layout."""
        return self._arrays.share(self._native.images())

    @property
    def labels(self) -> Any:
        """int64 [N]; -1 where the source has none."""
        return self._arrays.share(self._native.labels())

    @property
    def soft_labels(self) -> Any:
        """float32 [N, classes], probabilities, with MixUp or CutMix; else None."""
        view = self._native.soft_labels()
        return None if view is None else self._arrays.share(view)

    @property
    def targets(self) -> Any:
        """soft_labels with MixUp or CutMix, else labels."""
        soft = self.soft_labels
        return self.labels if soft is None else soft

    @property
    def mask(self) -> Any:
        """bool [N]; False: not to be counted, padding or a copy in the place of a damaged record."""
        return self._arrays.booleans(self._native.mask())

    @property
    def records(self) -> Any:
        """int64 [N]: the number of each sample's record in its dataset."""
        return self._arrays.share(self._native.records())

    @property
    def datasets(self) -> Any:
        """int32 [N]: which dataset each sample is of, where several are mixed."""
        return self._arrays.share(self._native.datasets())

    @property
    def device(self) -> str:
        """Where images are: "cpu", "cuda:0"."""
        return self._native.device

    def use_on(self, stream: Any) -> None:
        """Says that another CUDA stream, a torch.cuda.Stream or the address of any, is going to use the batch."""
        self._native.use_on(int(getattr(stream, "cuda_stream", stream)))

    @property
    def epoch(self) -> int:
        """The epoch's number."""
        return self._native.epoch

    @property
    def step(self) -> int:
        """Number of the global batch in the epoch, also after a resume."""
        return self._native.step

    @property
    def skipped(self) -> int:
        """Damaged records that copies of other samples stand for."""
        return self._native.skipped

    def state_dict(self) -> Dict[str, Any]:
        """Where a run stands that has used this batch and all before it; for Loader.load_state_dict."""
        state: Dict[str, Any] = json.loads(self._native.state())
        return state
