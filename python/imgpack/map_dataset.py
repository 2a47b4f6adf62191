"""A map-style dataset for torch.utils.data.DataLoader, and for everything else that wants one image at a time."""
from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional, Tuple, Union

import numpy as np

from ._imgpack import Dataset
from .errors import InvalidArgumentError
from .packing import PathLike

try:
    from PIL import Image
except ImportError:
    _pil_image: Any = None
else:
    _pil_image = Image


class MapDataset:
    """Samples and labels of a packed dataset, as torchvision's ImageFolder gives them for the folder it was made from.

        train = imgpack.MapDataset("imagenet.rec", split="train", transform=transforms.Compose([...]))
        loader = torch.utils.data.DataLoader(train, batch_size=256, shuffle=True, num_workers=8)

    Needs neither torch nor torchvision. Works with workers that are forked or spawned, and pickles (see Dataset). One
    difference: the classes are those of the whole dataset, also where a split lacks some of them.

    Args:
        path: packed file, manifest, pattern, name of shards, or an open Dataset.
        split: "train" stands for ``ImageFolder(root/train)``; None for all records.
        transform: called with the image, gives the sample.
        target_transform: called with the label, gives the target.
        image: what transform is called with: "pil", an RGB image of Pillow; "numpy", an array uint8 [height, width, 3];
            "auto": the first if Pillow is installed.

    Attributes:
        dataset: the Dataset below.
        classes, class_to_idx: names of classes in order of their labels, and label of each.
    """

    def __init__(self, path: Union[PathLike, Dataset], split: Optional[str] = None,
                 transform: Optional[Callable[[Any], Any]] = None,
                 target_transform: Optional[Callable[[int], Any]] = None, *, image: str = "auto") -> None:
        if image not in ("auto", "pil", "numpy"):
            raise InvalidArgumentError(f"image can't be {image!r}: it is 'auto', 'pil' or 'numpy'")
        if image == "pil" and _pil_image is None:
            raise ImportError("image='pil' needs Pillow, which is not installed")
        self.dataset = path if isinstance(path, Dataset) else Dataset(path)
        self.split = split
        self.transform = transform
        self.target_transform = target_transform
        self.classes: List[str] = self.dataset.classes
        self.class_to_idx: Dict[str, int] = self.dataset.class_to_idx
        self._as_array = image == "numpy" or _pil_image is None
        self._ranges = self.dataset.select(split)
        self._labels = self.dataset.labels(split)
        self._ends = np.cumsum([end - begin for begin, end in self._ranges], dtype=np.int64)

    def __len__(self) -> int:
        return len(self._labels)

    def __getitem__(self, index: int) -> Tuple[Any, Any]:
        """Sample and target. Raises IndexError, and what Dataset.decode raises."""
        record = self.record(index)
        sample: Any = self.dataset.decode(record) if self._as_array else self._pil(record)
        target: Any = int(self._labels[index])
        if self.transform is not None:
            sample = self.transform(sample)
        if self.target_transform is not None:
            target = self.target_transform(target)
        return sample, target

    def __repr__(self) -> str:
        return f"imgpack.MapDataset({str(self.dataset.path)!r}, split={self.split!r}): {len(self)} samples"

    def record(self, index: int) -> int:
        """The number in the dataset of the record behind a sample."""
        size = len(self)
        if not -size <= index < size:
            raise IndexError(f"sample {index} of {size}")
        index = int(index) % size
        part = int(np.searchsorted(self._ends, index, side="right"))
        return int(self._ranges[part][1] - (self._ends[part] - index))

    @property
    def targets(self) -> List[int]:
        """Label of each sample."""
        labels: List[int] = self._labels.tolist()
        return labels

    @property
    def samples(self) -> List[Tuple[str, int]]:
        """Key (the file's path below the source) and label of each sample; made anew at each call."""
        keys = (self.dataset.key(record) for begin, end in self._ranges for record in range(begin, end))
        return list(zip(keys, self.targets))

    @property
    def imgs(self) -> List[Tuple[str, int]]:
        """The same as samples."""
        return self.samples

    def _pil(self, record: int) -> Any:
        return _pil_image.fromarray(self.dataset.decode(record))
