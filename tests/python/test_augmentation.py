"""The classes of steps; that they do what torchvision's do is tested where they are implemented, and by sample here."""
import pickle

import numpy as np
import pytest
from torchvision import transforms
from torchvision.transforms import InterpolationMode

import imgpack

STEPS = [
    imgpack.RandomResizedCrop(32), imgpack.Resize(40), imgpack.Resize((30, 20), "bicubic"),
    imgpack.CenterCrop((24, 28)),
    imgpack.RandomCrop(24, padding=4, pad_if_needed=True, fill=(1, 2, 3)), imgpack.HorizontalFlip(),
    imgpack.ColorJitter(0.4, 0.4, 0.4, 0.1), imgpack.Grayscale(0.1), imgpack.Normalize.imagenet(),
    imgpack.RandomErasing(value="random"), imgpack.MixUp(0.2),
]


@pytest.mark.parametrize("step", STEPS, ids=lambda step: type(step).__name__)
def test_steps_are_values(step):
    assert eval(repr(step), vars(imgpack)) == step
    copy = pickle.loads(pickle.dumps(step))
    assert copy == step and hash(copy) == hash(step)
    with pytest.raises(AttributeError):
        step.p = 1


def test_all_steps_together(packed):
    images, labels = next(iter(imgpack.Loader(packed, batch_size=4, transform=STEPS)))
    assert images.shape == (4, 3, 24, 24) and labels.shape == (4, 3)


@pytest.mark.parametrize("ours, theirs", [
    ([imgpack.Resize(24), imgpack.CenterCrop(20)], [transforms.Resize(24), transforms.CenterCrop(20)]),
    ([imgpack.Resize((30, 20), InterpolationMode.BICUBIC)],
     [transforms.Resize((30, 20), InterpolationMode.BICUBIC)]),
    ([imgpack.CenterCrop((60, 90))], [transforms.CenterCrop((60, 90))]),
    ([imgpack.Resize((20, 30)), imgpack.HorizontalFlip(1.0)],
     [transforms.Resize((20, 30)), transforms.RandomHorizontalFlip(1.0)]),
    ([imgpack.Resize((20, 30)), imgpack.Grayscale()], [transforms.Resize((20, 30)), transforms.Grayscale(3)]),
], ids=str)
def test_pixels_are_torchvisions(packed, ours, theirs):
    loader = imgpack.Loader(packed, split="val", batch_size=6, dtype="uint8", shuffle=False, output="numpy",
                            transform=ours)
    reference = imgpack.MapDataset(packed, "val", transforms.Compose(theirs))
    (images, labels), = loader
    for image, label, (expected, expected_label) in zip(images, labels, reference):
        np.testing.assert_array_equal(image.transpose(1, 2, 0), np.asarray(expected))
        assert label == expected_label


@pytest.mark.parametrize("step", [
    imgpack.RandomResizedCrop("224"), imgpack.Resize(-1), imgpack.CenterCrop(2.5), imgpack.CenterCrop((1, -2)),
    imgpack.Normalize((0.5,), (0.5,)), imgpack.HorizontalFlip("often"), imgpack.RandomCrop(8, fill=(0, 300, 0)),
], ids=repr)
def test_arguments_of_wrong_types(packed, step):
    with pytest.raises(TypeError, match=type(step).__name__):
        imgpack.Loader(packed, transform=[step])


def test_what_makes_no_sense(packed):
    def refused(*steps, match, **options):
        with pytest.raises(imgpack.InvalidArgumentError, match=match):
            imgpack.Loader(packed, transform=steps, **options)

    refused(imgpack.HorizontalFlip(1.5), match="a probability is 0 to 1")
    refused(imgpack.Resize(16, "linear"), match="'bilinear'")
    refused(imgpack.Normalize.imagenet(), imgpack.Resize((8, 8)), match="come first")
    refused(imgpack.Resize((8, 8)), imgpack.Normalize.imagenet(), match="uint8", dtype="uint8")
    with pytest.raises(TypeError, match="ToTensor"):
        imgpack.Loader(packed, transform=[transforms.ToTensor()])
