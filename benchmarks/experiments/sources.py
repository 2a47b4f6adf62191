"""Where the batches of the experiments come from: endless, of one size, on the device that trains.

Each is opened anew for a turn and closed after it, so that no turn lives on what was made ahead in another's time.
"""
from dataclasses import dataclass

import torch

import imgpack

MEAN = (0.485, 0.456, 0.406)
STD = (0.229, 0.224, 0.225)


@dataclass(frozen=True)
class Reading:
    """What a source needs to know. folder: images in a folder for each class; packed: the same, packed.

    batch and workers are those of this rank; device is torch's.
    """

    folder: str
    packed: str
    batch: int
    size: int
    workers: int
    device: torch.device
    rank: int
    ranks: int


def synthetic(reading):
    """The same batch again and again, which never moves: what the training can do by itself."""
    images = to_device(torch.randn(reading.batch, 3, reading.size, reading.size), reading.device)
    labels = torch.zeros(reading.batch, dtype=torch.int64, device=reading.device)
    while True:
        yield images, labels


def image_folder(reading):
    from torchvision.datasets import ImageFolder
    return data_loader(reading, ImageFolder(reading.folder, pillow_transform(reading.size)))


def map_dataset(reading):
    return data_loader(reading, imgpack.MapDataset(reading.packed, transform=pillow_transform(reading.size)))


def loader(reading):
    """imgpack.Loader on the CPU."""
    return moved(packed_loader(reading, torch.device("cpu")), reading.device)


def loader_on_gpu(reading):
    return moved(packed_loader(reading, reading.device), reading.device)


def packed_loader(reading, device):
    return imgpack.Loader(
        reading.packed, batch_size=reading.batch, seed=1, rank=reading.rank, world_size=reading.ranks,
        last_batch="drop", device=device, threads=reading.workers if device.type == "cpu" else 0, output="torch",
        layout="channels_last" if reading.device.type == "cuda" else "nchw",
        transform=[imgpack.RandomResizedCrop(reading.size), imgpack.HorizontalFlip(), imgpack.Normalize(MEAN, STD)])


def pillow_transform(size):
    from torchvision import transforms
    return transforms.Compose([transforms.RandomResizedCrop(size), transforms.RandomHorizontalFlip(),
                               transforms.ToTensor(), transforms.Normalize(MEAN, STD)])


def data_loader(reading, dataset):
    from torch.utils.data import DataLoader, DistributedSampler
    sampler = None
    if reading.ranks > 1:
        sampler = DistributedSampler(dataset, reading.ranks, reading.rank, drop_last=True)
    on_gpu = reading.device.type == "cuda"
    return moved(DataLoader(dataset, reading.batch, shuffle=sampler is None, sampler=sampler, drop_last=True,
                            num_workers=reading.workers, persistent_workers=True, pin_memory=on_gpu), reading.device)


def moved(batches, device):
    while True:
        for images, labels in batches:
            yield to_device(images, device), labels.to(device, non_blocking=True)


def to_device(images, device):
    layout = torch.channels_last if device.type == "cuda" else torch.contiguous_format
    return images.to(device, non_blocking=True, memory_format=layout)


SYNTHETIC = "one synthetic batch"
#: Name in the table -> function of a Reading. The last one is for GPUs only.
LOADERS = {"imgpack": loader, "ImageFolder": image_folder, "imgpack.MapDataset": map_dataset,
           "imgpack on the GPU": loader_on_gpu}
ON_GPU = "imgpack on the GPU"


def why_not(name, group, packed):
    """Why a loader can't work for a group of runs, or None."""
    if name != ON_GPU:
        return None
    if group.device != "cuda":
        return "torch sees no GPU"
    try:
        imgpack.Loader(packed, batch_size=1, device="cuda:0")
    except imgpack.Error as error:
        return str(error)
    return None
