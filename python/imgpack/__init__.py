"""imgpack packs image folders into one file for training, and reads such files.

    imgpack.build("imagenet/", "imagenet.rec")
    data = imgpack.Dataset("imagenet.rec")
    image = data.decode(0)                                  # uint8 [height, width, 3]
    train = imgpack.MapDataset("imagenet.rec", split="train", transform=...)   # as torchvision's ImageFolder

Only NumPy is needed; Pillow and torch are used where they are installed.
"""
from ._imgpack import (BuildReport, ClassInfo, Damage, Dataset, DatasetInfo, DecodePaths, FieldSpec, LeftOut, Progress,
                       SourceReport, Split)
from ._imgpack import version as __version__
from .errors import (AlreadyExistsError, BusyError, DamagedError, Error, InputOutputError, InvalidArgumentError,
                     NotFoundError, OutOfMemoryError, RefusedError, UnsupportedError)
from .map_dataset import MapDataset
from .packing import build, convert, info, merge
from .verifying import VerifyReport, verify

__all__ = [
    "AlreadyExistsError", "BuildReport", "BusyError", "ClassInfo", "Damage", "DamagedError", "Dataset", "DatasetInfo",
    "DecodePaths", "Error", "FieldSpec", "InputOutputError", "InvalidArgumentError", "LeftOut", "MapDataset",
    "NotFoundError", "OutOfMemoryError", "Progress", "RefusedError", "SourceReport", "Split", "UnsupportedError",
    "VerifyReport", "build", "convert", "info", "merge", "verify",
]
