"""How much of a GPU's training speed a loader leaves: images a second of training steps on batches of imgpack's loader
and of ImageFolder with DataLoader, beside the same steps on one synthetic batch that never moves.

    gpu_training.py PACKED [--images FOLDER] [--models resnet50 mobilenet_v2] [--batch N] [--steps N] [--json FILE]

bfloat16 autocast, channels_last, SGD with momentum, RandomResizedCrop(224), flip and Normalize. Each way runs in turns;
the median of the rounds counts. ImageFolder has one round, of half the steps, once the batches that its workers had
ready are used up.
"""
import argparse
import json
import statistics
import time

import torch
import torchvision

import imgpack

MEAN = (0.485, 0.456, 0.406)
STD = (0.229, 0.224, 0.225)


class Training:
    def __init__(self, name, classes):
        self.model = getattr(torchvision.models, name)(num_classes=classes).cuda().to(memory_format=torch.channels_last)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01, momentum=0.9)
        self.loss = torch.nn.CrossEntropyLoss()

    def step(self, images, labels):
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = self.loss(self.model(images), labels)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.optimizer.step()


def endless(make_epoch):
    while True:
        yield from make_epoch()


def synthetic(batch):
    images = torch.randn(batch, 3, 224, 224, device="cuda", dtype=torch.bfloat16)
    images = images.to(memory_format=torch.channels_last)
    labels = torch.zeros(batch, dtype=torch.int64, device="cuda")
    while True:
        yield images, labels


def packed(path, batch):
    loader = imgpack.Loader(path, batch_size=batch, device="cuda", seed=1, dtype="bfloat16", layout="nhwc",
                            last_batch="drop",
                            transform=[imgpack.RandomResizedCrop(224), imgpack.HorizontalFlip(),
                                       imgpack.Normalize.imagenet()])
    return endless(lambda: iter(loader))


def folder(path, batch, workers):
    from torchvision import transforms
    from torchvision.datasets import ImageFolder
    data = ImageFolder(path, transforms.Compose([
        transforms.RandomResizedCrop(224), transforms.RandomHorizontalFlip(), transforms.ToTensor(),
        transforms.Normalize(MEAN, STD)]))
    loader = torch.utils.data.DataLoader(data, batch, shuffle=True, num_workers=workers, pin_memory=True,
                                         drop_last=True, persistent_workers=True)

    def moved():
        for images, labels in loader:
            yield (images.cuda(non_blocking=True).to(memory_format=torch.channels_last),
                   labels.cuda(non_blocking=True))
    return endless(moved)


def rate(training, batches, batch, steps, warm_up=5):
    for _ in range(warm_up):
        training.step(*next(batches))
    torch.cuda.synchronize()
    begin = time.perf_counter()
    for _ in range(steps):
        training.step(*next(batches))
    torch.cuda.synchronize()
    return batch * steps / (time.perf_counter() - begin)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("packed")
    parser.add_argument("--images", help="the folder, for ImageFolder")
    parser.add_argument("--models", nargs="+", default=["resnet50", "mobilenet_v2"])
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--workers", type=int, default=16)
    parser.add_argument("--json")
    arguments = parser.parse_args()
    torch.backends.cudnn.benchmark = True

    figures = {}
    for name in arguments.models:
        training = Training(name, 1000)
        ways = {"synthetic": synthetic(arguments.batch), "imgpack": packed(arguments.packed, arguments.batch)}
        rates = {way: [] for way in ways}
        for _ in range(arguments.rounds):
            for way, batches in ways.items():
                rates[way].append(rate(training, batches, arguments.batch, arguments.steps))
        if arguments.images:
            slow = folder(arguments.images, arguments.batch, arguments.workers)
            ahead = 2 * arguments.workers  # batches, with DataLoader's prefetch_factor
            rates["ImageFolder"] = [rate(training, slow, arguments.batch, max(5, arguments.steps // 2), ahead + 5)]
        medians = {way: statistics.median(values) for way, values in rates.items()}
        figures[name] = medians
        print(name, ", ".join(f"{way} {value:.0f} images/s ({value / medians['synthetic']:.1%})"
                              for way, value in medians.items()), flush=True)
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump({"batch": arguments.batch, "images_per_second": figures}, file, indent=1)


if __name__ == "__main__":
    main()
