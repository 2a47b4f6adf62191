"""What a Loader does to each image between decoding and the batch: torchvision's names, defaults and distributions.

A transform is a list of steps, applied in order: first those on 8-bit pixels (geometry, ColorJitter, Grayscale), then
Normalize, then RandomErasing, last MixUp, CutMix, or both, of which each batch draws one. Whatever is random is drawn
from (seed, epoch, record, kind of step, how many of that kind come before) alone: the same sample looks the same
whatever thread, rank or device makes it, and adding a step changes no other. Pixels are those that torchvision makes of
Pillow's images with the same parameters.
"""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Sequence, Tuple, Union

from . import _imgpack
from .errors import Error

#: Side of a square, or (height, width), in pixels.
Size = Union[int, Sequence[int]]


class Augmentation:
    """A step of a Loader's transform. Steps compare by value, are immutable, and pickle."""

    def _native(self) -> _imgpack.Augmentation:
        raise NotImplementedError


def to_native(step: Augmentation) -> _imgpack.Augmentation:
    """The library's form of a step. Raises TypeError, naming the step."""
    if not isinstance(step, Augmentation):
        raise TypeError(f"{step!r} is no step of imgpack's, like imgpack.RandomResizedCrop(224)")
    try:
        return step._native()
    except Error:
        raise
    except (TypeError, ValueError):
        raise TypeError(f"{step!r}: an argument has a wrong type or length, or is out of range") from None


def _sides(size: Size) -> Tuple[int, int]:
    if isinstance(size, int):
        return size, size
    height, width = size
    return height, width


def _pair(values: Sequence[float]) -> Tuple[float, float]:
    low, high = values
    return low, high


def _name(interpolation: Any) -> str:
    """"bilinear", also of torchvision's InterpolationMode.BILINEAR."""
    return str(getattr(interpolation, "value", interpolation))


def _three(value: Any) -> Tuple[Any, Any, Any]:
    if isinstance(value, (int, float)):
        return value, value, value
    first, second, third = value
    return first, second, third


@dataclass(frozen=True)
class RandomResizedCrop(Augmentation):
    """A part of random area (scale, of the image's) and proportion (ratio, width / height), resized to size.

    Ten tries, then the largest central part of allowed proportion, as torchvision.
    """

    size: Size
    scale: Tuple[float, float] = (0.08, 1.0)
    ratio: Tuple[float, float] = (3 / 4, 4 / 3)
    interpolation: str = "bilinear"

    def _native(self) -> _imgpack.Augmentation:
        return _imgpack.random_resized_crop(_sides(self.size), _pair(self.scale), _pair(self.ratio),
                                            _name(self.interpolation))


@dataclass(frozen=True)
class Resize(Augmentation):
    """An int: the shorter side becomes so long, the other in proportion. (height, width): the image becomes that."""

    size: Size
    interpolation: str = "bilinear"

    def _native(self) -> _imgpack.Augmentation:
        if isinstance(self.size, int):
            return _imgpack.resize_shorter(self.size, _name(self.interpolation))
        return _imgpack.resize(_sides(self.size), _name(self.interpolation))


@dataclass(frozen=True)
class CenterCrop(Augmentation):
    """The middle; where the image is smaller, it is padded with black."""

    size: Size

    def _native(self) -> _imgpack.Augmentation:
        return _imgpack.center_crop(_sides(self.size))


@dataclass(frozen=True)
class RandomCrop(Augmentation):
    """A part of the image's own scale at a random place, after padding by so many pixels of fill on each side.

    With pad_if_needed smaller images are padded further; else they count as damaged. fill is a value for all channels,
    or (red, green, blue), 0 to 255.
    """

    size: Size
    padding: int = 0
    pad_if_needed: bool = False
    fill: Union[int, Tuple[int, int, int]] = 0

    def _native(self) -> _imgpack.Augmentation:
        return _imgpack.random_crop(_sides(self.size), self.padding, self.pad_if_needed, _three(self.fill))


@dataclass(frozen=True)
class HorizontalFlip(Augmentation):
    """Left and right exchanged with probability p."""

    p: float = 0.5

    def _native(self) -> _imgpack.Augmentation:
        return _imgpack.horizontal_flip(self.p)


@dataclass(frozen=True)
class ColorJitter(Augmentation):
    """Brightness, contrast, saturation and hue changed by random factors, in random order.

    A strength s means factors from max(0, 1 - s) to 1 + s; hue turns by -hue to +hue, at most 0.5.
    """

    brightness: float = 0.0
    contrast: float = 0.0
    saturation: float = 0.0
    hue: float = 0.0

    def _native(self) -> _imgpack.Augmentation:
        return _imgpack.color_jitter(self.brightness, self.contrast, self.saturation, self.hue)


@dataclass(frozen=True)
class Grayscale(Augmentation):
    """Gray in all three channels with probability p, which torchvision calls RandomGrayscale."""

    p: float = 1.0

    def _native(self) -> _imgpack.Augmentation:
        return _imgpack.grayscale(self.p)


@dataclass(frozen=True)
class Normalize(Augmentation):
    """(value / 255 - mean) / std for each channel. Needs a floating-point dtype."""

    mean: Tuple[float, float, float]
    std: Tuple[float, float, float]

    @classmethod
    def imagenet(cls) -> Normalize:
        """Mean and deviation of ImageNet."""
        return cls((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))

    def _native(self) -> _imgpack.Augmentation:
        return _imgpack.normalize(_three(self.mean), _three(self.std))


@dataclass(frozen=True)
class RandomErasing(Augmentation):
    """A random rectangle filled with value with probability p.

    value is in the batch's own units (after Normalize): one for all channels, three, or "random" for normal noise.
    """

    p: float = 0.5
    scale: Tuple[float, float] = (0.02, 0.33)
    ratio: Tuple[float, float] = (0.3, 3.3)
    value: Union[float, Tuple[float, float, float], str] = 0.0

    def _native(self) -> _imgpack.Augmentation:
        noise = self.value == "random"
        return _imgpack.random_erasing(self.p, _pair(self.scale), _pair(self.ratio),
                                       _three(0.0 if noise else self.value), noise)


@dataclass(frozen=True)
class MixUp(Augmentation):
    """Each sample mixed with its neighbour in the global batch with probability p; labels become probabilities."""

    alpha: float = 1.0
    p: float = 1.0

    def _native(self) -> _imgpack.Augmentation:
        return _imgpack.mix_up(self.alpha, self.p)


@dataclass(frozen=True)
class CutMix(Augmentation):
    """A rectangle of each sample taken from its neighbour in the global batch with probability p; labels by area."""

    alpha: float = 1.0
    p: float = 1.0

    def _native(self) -> _imgpack.Augmentation:
        return _imgpack.cut_mix(self.alpha, self.p)
