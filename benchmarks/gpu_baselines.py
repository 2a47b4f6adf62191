"""What PyTorch's own ways bring to the GPU, in images a second, as baselines for imgpack's loader.

    gpu_baselines.py IMAGES [--batch N ...] [--workers N] [--seconds S] [--rounds N] [--raw-gigabytes G] [--json FILE]

IMAGES is a folder of JPEGs; in class folders (as for ImageFolder) or not. Ways:

- torchvision.io.decode_jpeg(list, device="cuda"): decode only, from tensors of bytes in host memory;
- ImageFolder in a DataLoader (16 workers, pin_memory, persistent) with RandomResizedCrop(224), flip, ToTensor and
  Normalize, batches copied with non_blocking=True: what most training programs do;
- with --raw-gigabytes, images of 256x256x3 bytes in random order from a memory-mapped array of that size, which is made
  in the temporary folder, in such a DataLoader: what predecoded images are commonly read with.

A small folder is repeated. Each way has rounds in turns; the best of each counts, since whatever disturbs only adds.
"""
import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

import numpy
import torch
import torchvision
from torch.utils.data import DataLoader, Dataset
from torchvision import transforms
from torchvision.datasets import ImageFolder
from torchvision.datasets.folder import default_loader
from torchvision.io import ImageReadMode, decode_jpeg, read_file

MEAN = (0.485, 0.456, 0.406)
STD = (0.229, 0.224, 0.225)


def jpegs_of(folder):
    paths = sorted(path for path in Path(folder).rglob("*") if path.suffix.lower() in (".jpg", ".jpeg"))
    if not paths:
        sys.exit(f"gpu_baselines.py: there are no JPEGs in {folder}")
    return paths


class Repeated(Dataset):
    """An ImageFolder's samples, again and again, up to a number."""

    def __init__(self, folder, length, transform):
        self.paths = [str(path) for path in jpegs_of(folder)]
        if any(path.is_dir() for path in Path(folder).iterdir()):
            self.paths = [path for path, _ in ImageFolder(folder).samples]
        self.length = length
        self.transform = transform

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        return self.transform(default_loader(self.paths[index % len(self.paths)])), 0


def rate_of(step, seconds):
    """Images a second of calls to step(), which returns how many it made."""
    step()
    torch.cuda.synchronize()
    begin = time.perf_counter()
    images = 0
    while True:
        images += step()
        if time.perf_counter() - begin >= seconds:
            break
    torch.cuda.synchronize()
    return images / (time.perf_counter() - begin)


def accepted_by_gpu(files):
    """nvJPEG refuses some kinds of JPEG, and one in a list fails the whole call."""
    good = []
    for data in files:
        try:
            decode_jpeg([data], mode=ImageReadMode.RGB, device="cuda")
            good.append(data)
        except RuntimeError:
            pass
    return good


def decode_way(files, batch):
    at = 0

    def step():
        nonlocal at
        data = [files[(at + i) % len(files)] for i in range(batch)]
        at += batch
        decode_jpeg(data, mode=ImageReadMode.RGB, device="cuda")
        return batch

    return step


def transformed_images(folder, length):
    return Repeated(folder, length, transforms.Compose([
        transforms.RandomResizedCrop(224), transforms.RandomHorizontalFlip(), transforms.ToTensor(),
        transforms.Normalize(MEAN, STD)]))


class RawImages(Dataset):
    """Images of 256x256x3 bytes in a file, which every worker maps for itself."""

    SHAPE = (256, 256, 3)

    def __init__(self, path, gigabytes):
        self.path = path
        self.length = int(gigabytes * 1e9) // (256 * 256 * 3)
        images = numpy.memmap(path, numpy.uint8, "w+", shape=(self.length, *self.SHAPE))
        for begin in range(0, self.length, 256):
            part = images[begin:begin + 256]
            part[:] = numpy.random.default_rng(begin).integers(0, 256, part.shape, numpy.uint8)
        self.images = None

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        if self.images is None:
            self.images = numpy.memmap(self.path, numpy.uint8, "r", shape=(self.length, *self.SHAPE))
        return torch.from_numpy(numpy.array(self.images[index])), 0


class LoaderWay:
    """Batches of a DataLoader on the GPU, its workers kept from epoch to epoch."""

    def __init__(self, data, batch, workers):
        self.loader = DataLoader(data, batch_size=batch, shuffle=True, num_workers=workers, pin_memory=True,
                                 persistent_workers=workers > 0, drop_last=True)
        self.batches = iter(())

    def __call__(self):
        batch = next(self.batches, None)
        if batch is None:
            self.batches = iter(self.loader)
            batch = next(self.batches)
        images = batch[0].to("cuda", non_blocking=True)
        return len(images)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("images")
    parser.add_argument("--batch", type=int, nargs="+", default=[256, 1024])
    parser.add_argument("--workers", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--raw-gigabytes", type=float, default=0)
    parser.add_argument("--json", help="where to write the results")
    args = parser.parse_args()
    if not torch.cuda.is_available():
        sys.exit("gpu_baselines.py: torch sees no GPU")

    files = [read_file(str(path)) for path in jpegs_of(args.images)]
    good = accepted_by_gpu(files)
    ways = {}
    for batch in args.batch:
        if good:
            ways[("decode_jpeg cuda", batch)] = decode_way(good, batch)
    batch = args.batch[0]
    ways[("ImageFolder + DataLoader", batch)] = LoaderWay(transformed_images(args.images, batch * 64), batch,
                                                          args.workers)
    raw_file = tempfile.NamedTemporaryFile(suffix=".raw")
    if args.raw_gigabytes > 0:
        ways[("raw images + DataLoader", batch)] = LoaderWay(RawImages(raw_file.name, args.raw_gigabytes), batch,
                                                             args.workers)
    best = dict.fromkeys(ways, 0.0)
    for _ in range(args.rounds):
        for name, step in ways.items():
            best[name] = max(best[name], rate_of(step, args.seconds))

    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, torchvision {torchvision.__version__}")
    print(f"{'way':<28} {'batch':>6} {'images/s':>10}")
    for (name, batch), rate in best.items():
        print(f"{name:<28} {batch:>6} {rate:>10.0f}")
    if len(good) != len(files):
        print(f"decode_jpeg refused {len(files) - len(good)} of {len(files)} images, which were left out")
    if args.json:
        results = [{"way": name, "batch": batch, "images_per_s": rate} for (name, batch), rate in best.items()]
        text = json.dumps({"benchmark": "pytorch", "device": torch.cuda.get_device_name(), "torch": torch.__version__,
                           "torchvision": torchvision.__version__, "workers": args.workers, "images": len(files),
                           "left_out": len(files) - len(good), "results": results}, indent=1)
        Path(args.json).write_text(text + "\n")


if __name__ == "__main__":
    main()
