import os
import pickle

import numpy as np
import pytest
import torch
import torchvision
from PIL import Image
from torch.utils.data import DataLoader
from torchvision import transforms

import imgpack


@pytest.fixture(scope="module")
def odd_images(tmp_path_factory):
    """Image types and modes that convert("RGB") has something to do with, in train/ and val/."""
    root = tmp_path_factory.mktemp("odd") / "images"
    noise = np.random.default_rng(1).integers(0, 256, (37, 41, 4), dtype=np.uint8)
    pictures = {
        "rgb.png": Image.fromarray(noise[..., :3]), "rgba.png": Image.fromarray(noise),
        "gray.jpg": Image.fromarray(noise[..., 0]), "cmyk.jpg": Image.fromarray(noise, mode="CMYK"),
        "palette.png": Image.fromarray(noise[..., :3]).quantize(16), "rgb.bmp": Image.fromarray(noise[..., :3]),
        "rgb.JPEG": Image.fromarray(noise[..., :3]).resize((90, 70)),
    }
    for split in ("train", "val"):
        for name, names in (("cat", list(pictures)), ("Zebra", ["rgb.png", "gray.jpg"]), ("dog", ["rgb.JPEG"])):
            (root / split / name).mkdir(parents=True)
            for file in names:
                pictures[file].save(root / split / name / file)
    return root


@pytest.fixture(scope="module")
def odd_packed(odd_images):
    path = odd_images.parent / "odd.rec"
    imgpack.build(odd_images, path)
    return path


def assert_same_as_folder(ours, folder, root):
    assert len(ours) == len(folder)
    assert ours.classes == folder.classes and ours.class_to_idx == folder.class_to_idx
    assert ours.targets == folder.targets
    assert [(os.path.join(root, key), label) for key, label in ours.samples] == folder.samples
    for (image, label), (expected, expected_label) in zip(ours, folder):
        assert label == expected_label and type(label) is int
        assert image.mode == "RGB" and image.size == expected.size
        assert image.tobytes() == expected.tobytes()


@pytest.mark.parametrize("split", ["train", "val"])
def test_same_as_image_folder(images, packed, odd_images, odd_packed, split):
    for root, path in ((images, packed), (odd_images, odd_packed)):
        folder = torchvision.datasets.ImageFolder(str(root / split))
        assert_same_as_folder(imgpack.MapDataset(path, split=split), folder, root)


def test_whole_folder_without_splits(images, tmp_path):
    imgpack.build(images / "train", tmp_path / "train.rec")
    folder = torchvision.datasets.ImageFolder(str(images / "train"))
    assert_same_as_folder(imgpack.MapDataset(tmp_path / "train.rec"), folder, images / "train")


def test_several_ranges_of_a_split(images, packed, odd_images, tmp_path):
    imgpack.build(images, tmp_path / "a.rec", shards=3)
    whole, parts = imgpack.MapDataset(packed, "val"), imgpack.MapDataset(tmp_path / "a.rec", "val")
    assert parts.samples == whole.samples
    assert [parts.record(i) for i in range(len(parts))] == [parts.dataset.find(key) for key, _ in parts.samples]


def test_transforms(images, packed):
    steps = transforms.Compose([transforms.Resize(24), transforms.CenterCrop(20), transforms.ToTensor()])
    ours = imgpack.MapDataset(packed, "train", steps, lambda label: label + 100)
    folder = torchvision.datasets.ImageFolder(str(images / "train"), steps, lambda label: label + 100)
    for (image, label), (expected, expected_label) in zip(ours, folder):
        assert torch.equal(image, expected) and label == expected_label


def test_arrays(packed):
    pictures, arrays = imgpack.MapDataset(packed, "val", image="pil"), imgpack.MapDataset(packed, "val", image="numpy")
    for (picture, _), (array, _) in zip(pictures, arrays):
        np.testing.assert_array_equal(np.asarray(picture), array)
    with pytest.raises(imgpack.InvalidArgumentError, match="'auto', 'pil' or 'numpy'"):
        imgpack.MapDataset(packed, image="tensor")


def test_indices(packed):
    data = imgpack.MapDataset(packed, "val")
    assert data.record(-1) == data.record(5) == 23 and data[-1][1] == 2
    assert data.record(np.int64(2)) == 20 and data[torch.tensor(2)][1] == 1
    for index in (6, -7):
        with pytest.raises(IndexError):
            data[index]
    with pytest.raises(imgpack.NotFoundError):
        imgpack.MapDataset(packed, "test")


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_data_loader(images, packed, method):
    steps = transforms.Compose([transforms.Resize((32, 32)), transforms.ToTensor()])
    batches = []
    for data in (imgpack.MapDataset(packed, "train", steps),
                 torchvision.datasets.ImageFolder(str(images / "train"), steps)):
        loader = DataLoader(data, batch_size=5, shuffle=True, num_workers=2, multiprocessing_context=method,
                            generator=torch.Generator().manual_seed(3))
        batches.append(list(loader))
    assert len(batches[0]) == len(batches[1]) == 4
    for (image, label), (expected, expected_label) in zip(*batches):
        assert torch.equal(image, expected) and torch.equal(label, expected_label)


def test_errors_of_workers_keep_their_type(packed, tmp_path):
    damaged = bytearray(packed.read_bytes())
    where = damaged.index(imgpack.Dataset(packed).payload(3))
    damaged[where:where + 200] = bytes(200)
    (tmp_path / "damaged.rec").write_bytes(damaged)
    loader = DataLoader(imgpack.MapDataset(tmp_path / "damaged.rec"), batch_size=None, num_workers=1)
    with pytest.raises(imgpack.DamagedError, match="record 3"):
        list(loader)


def test_pickles(packed):
    data = pickle.loads(pickle.dumps(imgpack.MapDataset(packed, "val", transforms.ToTensor())))
    assert len(data) == 6 and torch.equal(data[1][0], imgpack.MapDataset(packed, "val", transforms.ToTensor())[1][0])
