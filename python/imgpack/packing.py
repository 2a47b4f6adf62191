"""Making packed datasets: build, convert, merge."""
from __future__ import annotations

import os
import tempfile
from typing import Any, Callable, Mapping, Optional, Sequence, Union

from . import _imgpack
from ._imgpack import BuildReport, Dataset, DatasetInfo, Progress
from .errors import InvalidArgumentError
from .options import set_options

PathLike = Union[str, "os.PathLike[str]"]
ProgressCallback = Callable[[Progress], object]

_TRANSFORM_NAMES = ("encode", "resize", "resize_mode", "interpolation", "upscale", "jpeg", "quality", "subsampling",
                    "zstd_level", "normalize", "index", "apply_exif_orientation")


def build(source: PathLike, output: PathLike, *, format: Optional[str] = None, encode: Optional[str] = None,
          resize: Optional[int] = None, resize_mode: Optional[str] = None, interpolation: Optional[str] = None,
          upscale: Optional[bool] = None, jpeg: Optional[str] = None, quality: Optional[int] = None,
          subsampling: Optional[str] = None, zstd_level: Optional[int] = None, normalize: Optional[bool] = None,
          index: Optional[bool] = None, apply_exif_orientation: Optional[bool] = None, on_error: str = "stop",
          limit: int = 0, shuffle_seed: Optional[int] = None, shards: int = 0, shard_size: int = 0,
          only_shard: Optional[int] = None, resume: bool = False, overwrite: bool = False, dry_run: bool = False,
          threads: int = 0, work_dir: Optional[PathLike] = None, alignment: int = 64,
          max_pixels: int = _imgpack.DEFAULT_MAX_PIXELS, metadata: Optional[Mapping[str, str]] = None,
          progress: Optional[ProgressCallback] = None) -> BuildReport:
    """Packs a folder, tar or manifest into one file, or several; as the command ``imgpack build`` does.

    Args:
        source: folder of images, ImageNet's tars, WebDataset tars, or CSV/TSV manifest.
        output: file to write; with shards, ``OUT-00000-of-0000N.EXT`` and so on.
        format: "rec", "lmdb", "hdf5" or "tfrecord". Default: by the output's extension, else "rec".
        encode: "keep" the bytes of every file (default); "jpeg" re-encodes what has to be; "raw" stores RGB pixels.
        resize: resize images to so many pixels, as resize_mode says.
        resize_mode: what becomes that long: the "shorter" side (default), the "longer" one, both ("exact"), or the
            shorter one with the square in the middle kept ("center-crop").
        interpolation: Pillow's filter of that name: "nearest", "box", "bilinear" (default), "hamming", "bicubic",
            "lanczos".
        upscale: enlarge smaller images, too.
        jpeg: JPEG files whose pixels stay: "keep" (default), "baseline", "restart".
        quality: of encoded JPEGs, 1 to 100; default 90.
        subsampling: chroma of encoded JPEGs: "444", "422", "420" (default).
        zstd_level: compress raw pixels, 1 to 22.
        normalize: store as raw pixels whatever a GPU could not decode.
        index: store the segment index of JPEGs (default).
        apply_exif_orientation: turn images as their EXIF says, which training with ImageFolder does not.
        on_error: "stop" at the first file that can't be packed, or "skip" such files and list them in the report.
        limit: pack only so many, equally many of each class as far as there are; 0: all.
        shuffle_seed: store the records of each split in an order shuffled by this seed.
        shards: number of files.
        shard_size: instead: cut so that the images of one file together have so many bytes at most.
        only_shard: build just this one, counted from 0, of ``shards``.
        resume: go on with an interrupted build of the same output, source and options.
        overwrite: replace an existing output.
        dry_run: look at everything, write nothing.
        threads: at work; 0: as many as this process may use. The output does not depend on it.
        work_dir: for nameless temporary files; default: the output's folder.
        alignment: of payloads in rec files, a power of two from 8 to 65536.
        max_pixels: larger images are refused.
        metadata: free-form values to store in the dataset.
        progress: called with a Progress some times a second, on this thread. What it raises ends the build.

    An interrupted build, by Ctrl-C for instance, leaves what ``resume=True`` goes on from.

    Raises RefusedError (a file can't be packed), AlreadyExistsError, BusyError, NotFoundError, InvalidArgumentError,
    UnsupportedError, DamagedError or InputOutputError.
    """
    options = _build_options(dict(locals()))
    return _imgpack.build(source, output, options, progress)


def convert(input: PathLike, output: PathLike, *, format: Optional[str] = None, encode: Optional[str] = None,
            resize: Optional[int] = None, resize_mode: Optional[str] = None, interpolation: Optional[str] = None,
            upscale: Optional[bool] = None, jpeg: Optional[str] = None, quality: Optional[int] = None,
            subsampling: Optional[str] = None, zstd_level: Optional[int] = None, normalize: Optional[bool] = None,
            index: Optional[bool] = None, apply_exif_orientation: Optional[bool] = None, on_error: str = "stop",
            limit: int = 0, shuffle_seed: Optional[int] = None, shards: int = 0, shard_size: int = 0,
            only_shard: Optional[int] = None, resume: bool = False, overwrite: bool = False, dry_run: bool = False,
            threads: int = 0, work_dir: Optional[PathLike] = None, alignment: int = 64,
            max_pixels: int = _imgpack.DEFAULT_MAX_PIXELS, metadata: Optional[Mapping[str, str]] = None,
            progress: Optional[ProgressCallback] = None) -> BuildReport:
    """Writes a packed dataset in another format or variant; records, labels, splits and fields are taken over.

    The arguments are those of :func:`build`. Without any from ``encode`` to ``apply_exif_orientation``, records stay as
    they are.
    """
    options = _build_options(dict(locals()))
    return _imgpack.convert(input, output, options, progress)


def merge(output: PathLike, inputs: Sequence[PathLike], *, overwrite: bool = False) -> None:
    """Writes a manifest that joins packed files, patterns or manifests as one sequence of records.

    Raises DamagedError for inputs whose classes or fields differ, RefusedError for a key that stands in two of them,
    AlreadyExistsError, and what opening the inputs raises.
    """
    _imgpack.merge(output, list(inputs), overwrite)


def info(path: PathLike) -> DatasetInfo:
    """What a packed dataset says about itself."""
    return Dataset(path).info


def _build_options(given: Mapping[str, Any]) -> _imgpack.BuildOptions:
    """The library's form of the keyword arguments of build() and convert()."""
    given = {name: value for name, value in given.items() if name not in ("source", "input", "output", "progress")}
    on_error, metadata, work_dir = given.pop("on_error"), given.pop("metadata"), given.pop("work_dir")
    if on_error not in ("stop", "skip"):
        raise InvalidArgumentError(f"on_error can't be {on_error!r}: it is 'stop' or 'skip'")
    transform = {name: given.pop(name) for name in _TRANSFORM_NAMES}
    options = _imgpack.BuildOptions()
    set_options(options, given)
    options.skip_errors = on_error == "skip"
    if metadata is not None:
        options.set_metadata(dict(metadata))
    if work_dir is None and options.dry_run:
        work_dir = tempfile.gettempdir()  # nothing may appear beside the output
    if work_dir is not None:
        options.work_dir = work_dir
    if any(value is not None for value in transform.values()):
        made = _imgpack.Transform()
        set_options(made, transform)
        made.check()
        options.transform = made
    return options
