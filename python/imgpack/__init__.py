"""imgpack packs image folders into one file for training, and reads such files.

    imgpack.build("imagenet/", "imagenet.rec")
    data = imgpack.Dataset("imagenet.rec")
    image = data.decode(0)                                  # uint8 [height, width, 3]
    train = imgpack.MapDataset("imagenet.rec", split="train", transform=...)   # as torchvision's ImageFolder
    loader = imgpack.Loader("imagenet.rec", split="train", batch_size=256,
                            transform=[imgpack.RandomResizedCrop(224), imgpack.HorizontalFlip()])

Only NumPy is needed; Pillow and torch are used where they are installed.
"""
from ._imgpack import (BuildReport, ClassInfo, Damage, Dataset, DatasetInfo, DecodePaths, FieldSpec, LeftOut, Progress,
                       SourceReport, Split)
from ._imgpack import version as __version__
from .augmentation import (Augmentation, CenterCrop, ColorJitter, CutMix, Grayscale, HorizontalFlip, MixUp, Normalize,
                           RandomCrop, RandomErasing, RandomResizedCrop, Resize)
from .batch import Batch
from .errors import (AlreadyExistsError, BusyError, DamagedError, Error, InputOutputError, InvalidArgumentError,
                     NotFoundError, OutOfMemoryError, RefusedError, UnsupportedError)
from .loader import Epoch, Loader, Share
from .map_dataset import MapDataset
from .packing import build, convert, info, merge
from .verifying import VerifyReport, verify

__all__ = [
    "AlreadyExistsError", "Augmentation", "Batch", "BuildReport", "BusyError", "CenterCrop", "ClassInfo",
    "ColorJitter", "CutMix", "Damage", "DamagedError", "Dataset", "DatasetInfo", "DecodePaths", "Epoch", "Error",
    "FieldSpec", "Grayscale", "HorizontalFlip", "InputOutputError", "InvalidArgumentError", "LeftOut", "Loader",
    "MapDataset", "MixUp", "Normalize", "NotFoundError", "OutOfMemoryError", "Progress", "RandomCrop",
    "RandomErasing", "RandomResizedCrop", "RefusedError", "Resize", "Share", "SourceReport", "Split",
    "UnsupportedError", "VerifyReport", "build", "convert", "info", "merge", "verify",
]

