"""Batches a second in Python: imgpack beside what people use today, in turns, in one run.

    loader_benchmark.py IMAGES [--packed FILE] [--workers N] [--rounds N] [--size N]

IMAGES is a class folder (as for ImageFolder). Each contestant delivers float32 batches of 128, RandomResizedCrop(224),
flipped and normalised; one epoch to warm up (worker processes are kept), then `rounds` epochs each, in turns. The best
epoch of each counts, since whatever disturbs only ever adds. --repeat makes a small folder a longer epoch.

Contestants: torchvision's ImageFolder in a DataLoader with as many workers as CPUs; the same pipeline written with
OpenCV (decode, crop, INTER_LINEAR resize, flip, normalise in float32, no antialiasing), in a DataLoader; MapDataset
with torchvision's transforms in a DataLoader; imgpack.Loader.
"""
import argparse
import os
import tempfile
import time

import cv2
import numpy as np
import torch
from torch.utils.data import ConcatDataset, DataLoader
from torchvision import transforms
from torchvision.datasets import ImageFolder

import imgpack

MEAN = (0.485, 0.456, 0.406)
STD = (0.229, 0.224, 0.225)


class OpenCvCrop:
    """What the usual advice comes to: one worker process decodes and augments with OpenCV."""

    def __init__(self, size):
        self.size = size
        self.scale = (1 / (255 * np.array(STD))).astype(np.float32)
        self.shift = (np.array(MEAN) / np.array(STD)).astype(np.float32)

    def __call__(self, path):
        image = cv2.imread(path, cv2.IMREAD_COLOR)
        height, width = image.shape[:2]
        # Only the sizes matter to torchvision's own sampling of the crop.
        top, left, h, w = transforms.RandomResizedCrop.get_params(torch.empty(3, height, width), (0.08, 1.0), (3 / 4, 4 / 3))
        crop = cv2.resize(image[top:top + h, left:left + w], (self.size, self.size), interpolation=cv2.INTER_LINEAR)
        if torch.rand(1).item() < 0.5:
            crop = cv2.flip(crop, 1)
        crop = cv2.cvtColor(crop, cv2.COLOR_BGR2RGB)
        return torch.from_numpy((crop * self.scale - self.shift).transpose(2, 0, 1).copy())


def make_contestants(images, packed, workers, repeat, size):
    pillow = transforms.Compose([transforms.RandomResizedCrop(size), transforms.RandomHorizontalFlip(),
                                 transforms.ToTensor(), transforms.Normalize(MEAN, STD)])

    def data_loader(dataset):
        return DataLoader(ConcatDataset([dataset] * repeat), batch_size=128, shuffle=True, num_workers=workers,
                          persistent_workers=workers > 0)

    augment = [imgpack.RandomResizedCrop(size), imgpack.HorizontalFlip(), imgpack.Normalize(MEAN, STD)]
    records = list(range(len(imgpack.Dataset(packed)))) * repeat
    return {
        "ImageFolder": data_loader(ImageFolder(images, pillow)),
        "OpenCV": data_loader(ImageFolder(images, OpenCvCrop(size), loader=lambda path: path)),
        "MapDataset": data_loader(imgpack.MapDataset(packed, transform=pillow)),
        "Loader": imgpack.Loader(packed, batch_size=128, records=records, transform=augment),
    }


def epoch_rate(loader):
    begin = time.perf_counter()
    samples = sum(len(batch[0]) for batch in loader)
    return samples / (time.perf_counter() - begin)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("images")
    parser.add_argument("--packed", help="the same images, packed; made if not given")
    parser.add_argument("--workers", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--repeat", type=int, default=4)
    parser.add_argument("--size", type=int, default=224)
    arguments = parser.parse_args()
    cv2.setNumThreads(0)
    with tempfile.TemporaryDirectory() as folder:
        packed = arguments.packed
        if packed is None:
            packed = os.path.join(folder, "packed.rec")
            imgpack.build(arguments.images, packed, on_error="skip")
        contestants = make_contestants(arguments.images, packed, arguments.workers, arguments.repeat, arguments.size)
        best = dict.fromkeys(contestants, 0.0)
        for round_number in range(arguments.rounds + 1):
            for name, loader in contestants.items():
                rate = epoch_rate(loader)
                if round_number > 0:
                    best[name] = max(best[name], rate)
        for name, rate in best.items():
            print(f"{name:12} {rate:7.0f} images/s   {best['Loader'] / rate:5.2f} times as fast is imgpack.Loader")
        stats = contestants["Loader"].stats()
        print("imgpack.Loader:", {key: round(value, 2) for key, value in stats.items()})


if __name__ == "__main__":
    main()
