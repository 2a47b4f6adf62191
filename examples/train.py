"""Trains torchvision's MobileNetV2 on a packed dataset with the splits train and val.

    python train.py imagenet.rec --epochs 90 --batch-size 256 --device cuda --autocast --checkpoint run.pt
    torchrun --nproc_per_node 8 train.py imagenet.rec --batch-size 2048 --device cuda --autocast --checkpoint run.pt

--batch-size is that of all ranks together, so that a run may go on (--resume) on another number of them with the same
batches, in the middle of an epoch too: the checkpoint holds the loader's state.
"""
import argparse
import math
import os
import sys
import time
from contextlib import nullcontext

import torch
import torch.distributed as dist
import torchvision
from torch.nn.functional import cross_entropy, relu6
from torch.nn.parallel import DistributedDataParallel

import imgpack


def parse(arguments):
    parser = argparse.ArgumentParser(description="Trains MobileNetV2 on a packed dataset.",
                                     formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    add = parser.add_argument
    add("dataset", help="a packed dataset with the splits train and val")
    add("--device", default="cpu", choices=["cpu", "cuda"], help="of torchrun's ranks, each takes a GPU of its own")
    add("--loader-device", choices=["cpu", "cuda"], help="where batches are made, if not on that of --device")
    add("--autocast", action="store_true", help="compute in bfloat16 where that is good enough")
    add("--epochs", type=int, default=30)
    add("--batch-size", type=int, default=64, help="of all ranks together")
    add("--size", type=int, default=224, help="height and width of the images that the network sees, pixels")
    add("--width", type=float, default=1.0, help="width multiplier of the network")
    add("--crop-scale", type=float, default=0.08, help="the least part of an image's area that is cut out for training")
    add("--lr", type=float, default=0.05, help="the highest learning rate")
    add("--schedule", default="cosine", choices=["cosine", "one-cycle"])
    add("--warmup", type=float, default=1.0, help="epochs in which cosine's learning rate rises")
    add("--momentum", type=float, default=0.9)
    add("--weight-decay", type=float, default=4e-5)
    add("--label-smoothing", type=float, default=0.0)
    add("--seed", type=int, default=0)
    add("--threads", type=int, default=0, help="that decode; 0: found while running")
    add("--checkpoint", help="written after each epoch, and when the run is stopped")
    add("--resume", action="store_true", help="go on from the checkpoint")
    add("--stop-after", type=int, default=0, metavar="STEPS", help="stop after so many steps, with a checkpoint")
    options = parser.parse_args(arguments)
    if options.loader_device == "cuda" and options.device == "cpu":
        parser.error("--loader-device cuda needs --device cuda")
    if (options.resume or options.stop_after) and not options.checkpoint:
        parser.error("--resume and --stop-after need --checkpoint")
    return options


def learning_rate(options, progress):
    """At `progress` from 0, the start of the run, to 1, its end. Needs no state, so a resumed run takes the same."""
    def anneal(begin, end, part):
        return end + (begin - end) * (1 + math.cos(math.pi * part)) / 2

    if options.schedule == "one-cycle":  # torch's OneCycleLR, momentum apart
        if progress < 0.3:
            return anneal(options.lr / 25, options.lr, progress / 0.3)
        return anneal(options.lr, options.lr / 25e4, (progress - 0.3) / 0.7)
    warmup = options.warmup / options.epochs
    if progress < warmup:
        return options.lr * progress / warmup
    return anneal(options.lr, 0, (progress - warmup) / (1 - warmup)) if warmup < 1 else options.lr


def check_autocast(device):
    """Raises UnsupportedError where torch lacks what the network needs: before version 2, ReLU6's gradient on CPUs."""
    try:
        relu6(torch.zeros(1, dtype=torch.bfloat16, device=device, requires_grad=True)).backward()
    except RuntimeError as error:
        raise imgpack.UnsupportedError(f"--autocast: torch {torch.__version__} can't do that on {device}: {error}")


def check_cuda():
    """Raises UnsupportedError unless this process has a GPU, of several on a machine one of its own."""
    if not torch.cuda.is_available():
        raise imgpack.UnsupportedError(f"--device cuda: torch {torch.__version__} sees no CUDA device")
    number, count = int(os.environ.get("LOCAL_RANK", 0)), torch.cuda.device_count()
    if number >= count:
        raise imgpack.UnsupportedError(f"--device cuda: {count} CUDA devices are too few for local rank {number}")
    torch.cuda.set_device(number)


def make_loaders(options, data):
    """Those of train and val. Rank and world size are torch.distributed's, "cuda" is torch's current device."""
    common = dict(global_batch_size=options.batch_size, threads=options.threads,
                  device=options.loader_device or options.device,
                  layout="channels_last" if options.device == "cuda" else "nchw")
    normalize = imgpack.Normalize.imagenet()
    # Batches of one size: batch norm can't do with a last batch of one image.
    train = imgpack.Loader(data, split="train", seed=options.seed, last_batch="drop", **common, transform=[
        imgpack.RandomResizedCrop(options.size, scale=(options.crop_scale, 1)), imgpack.HorizontalFlip(), normalize])
    # Batches of one size for all ranks too, with a mask of what is padding: each image is counted once.
    val = imgpack.Loader(data, split="val", shuffle=False, last_batch="pad", with_mask=True, prefetch_next_epoch=False,
                         **common, transform=[
        imgpack.Resize(options.size * 8 // 7), imgpack.CenterCrop(options.size), normalize])
    return train, val


class Trainer:
    def __init__(self, options):
        self.options = options
        self.rank, self.ranks = (dist.get_rank(), dist.get_world_size()) if dist.is_initialized() else (0, 1)
        self.device = torch.device(options.device)  # of several GPUs, the one that check_cuda() has set
        if options.autocast:
            check_autocast(self.device)
        data = imgpack.Dataset(options.dataset)
        self.train_loader, self.val_loader = make_loaders(options, data)
        if len(self.train_loader) == 0:
            raise imgpack.InvalidArgumentError(f"train has {self.train_loader.samples} images, fewer than a batch")
        labels = torch.from_numpy(data.labels("val"))
        classes = len(data.classes)
        torch.manual_seed(options.seed)
        self.model = torchvision.models.mobilenet_v2(num_classes=classes, width_mult=options.width).to(self.device)
        if options.device == "cuda":
            self.model.to(memory_format=torch.channels_last)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=options.lr, momentum=options.momentum,
                                         weight_decay=options.weight_decay)
        self.loss_sum = torch.zeros(2, dtype=torch.float64, device=self.device)  # of this rank's samples; their number
        self.steps = 0  # of this run
        self.say(f"{self.train_loader.samples} images to train on, {len(labels)} to check, {classes} classes; "
                 f"the most frequent one is {100 * labels.bincount().max() / len(labels):.1f} % of val")
        if options.resume:
            self.resume()
        device_ids = [torch.cuda.current_device()] if options.device == "cuda" else None
        self.parallel = (DistributedDataParallel(self.model, device_ids=device_ids) if dist.is_initialized()
                         else self.model)

    def say(self, text):
        if self.rank == 0:
            print(text, flush=True)

    def run(self):
        options = self.options
        for number in range(self.train_loader.state_dict()["epoch"] + 1, options.epochs + 1):
            start, begun = time.monotonic(), self.steps
            if not self.train_epoch():
                self.save()
                return self.say("stopped; the same command with --resume goes on")
            loss_sum, samples = self.over_ranks(self.loss_sum.clone()).tolist()
            rate = (self.steps - begun) * options.batch_size / (time.monotonic() - start)
            self.say(f"epoch {number}/{options.epochs}: loss {loss_sum / samples:.4f}, top-1 {100 * self.top1():.1f} %, "
                     f"{rate:.0f} images/s")
            self.loss_sum.zero_()
            self.save()
            if self.should_stop() and number < options.epochs:
                return self.say("stopped; the same command with --resume goes on")

    def should_stop(self):
        return self.options.stop_after and self.steps >= self.options.stop_after

    def train_epoch(self):
        """Whether it came to the epoch's end."""
        self.parallel.train()
        place = self.train_loader.state_dict()
        epoch = iter(self.train_loader)
        for images, labels in epoch:
            self.step(images, labels, place)
            place = self.train_loader.state_dict()
            if self.should_stop() and len(epoch) > 0:
                return False
        return True

    def step(self, images, labels, place):
        """`place`: the loader's state before this batch."""
        options = self.options
        progress = (place["epoch"] + place["samples"] / self.train_loader.samples) / options.epochs
        for group in self.optimizer.param_groups:
            group["lr"] = learning_rate(options, progress)
        # Dropout draws from the place in the run alone, so that a resumed run draws the same.
        torch.manual_seed((int(place["seed"], 16) + place["epoch"] * 0x9E3779B97F4A7C15
                           + place["samples"] * 0xBF58476D1CE4E5B9 + self.rank * 0x94D049BB133111EB) % 2**63)
        images = images.to(self.device, non_blocking=True)
        labels = labels.to(self.device, non_blocking=True)
        with self.computing():
            loss = cross_entropy(self.parallel(images), labels, reduction="sum", label_smoothing=options.label_smoothing)
        self.optimizer.zero_grad()
        # DDP takes the mean over ranks, whose parts of the batch may differ by one image.
        (loss * (self.ranks / options.batch_size)).backward()
        self.optimizer.step()
        self.loss_sum += torch.stack([loss.detach().double(), torch.full_like(loss, len(labels), dtype=torch.float64)])
        self.steps += 1

    def computing(self):
        return torch.autocast(self.device.type, dtype=torch.bfloat16) if self.options.autocast else nullcontext()

    @torch.no_grad()
    def top1(self):
        """Of the images of val, how many the network gives their class, 0 to 1."""
        self.model.eval()
        if dist.is_initialized():  # each rank has statistics of its own; those of rank 0 are kept
            for buffer in self.model.buffers():
                dist.broadcast(buffer, 0)
        counts = torch.zeros(2, dtype=torch.int64, device=self.device)  # right, all
        for images, labels, mask in self.val_loader.epoch(0):
            mask = mask.to(self.device)
            with self.computing():
                answers = self.model(images.to(self.device, non_blocking=True)).argmax(1)
            counts += torch.stack([((answers == labels.to(self.device)) & mask).sum(), mask.sum()])
        right, counted = self.over_ranks(counts).tolist()
        return right / counted

    def over_ranks(self, values):
        if dist.is_initialized():
            dist.all_reduce(values)
        return values

    def save(self):
        """Replaces the checkpoint as a whole."""
        loss_sum = self.over_ranks(self.loss_sum.clone())
        if self.rank != 0 or not self.options.checkpoint:
            return
        unfinished = self.options.checkpoint + ".unfinished"
        torch.save({"model": self.model.state_dict(), "optimizer": self.optimizer.state_dict(), "loss_sum": loss_sum,
                    "loader": self.train_loader.state_dict()}, unfinished)
        os.replace(unfinished, self.options.checkpoint)

    def resume(self):
        checkpoint = torch.load(self.options.checkpoint, map_location=self.device)
        self.model.load_state_dict(checkpoint["model"])
        self.optimizer.load_state_dict(checkpoint["optimizer"])
        self.train_loader.load_state_dict(checkpoint["loader"])
        if self.rank == 0:
            self.loss_sum.copy_(checkpoint["loss_sum"])
        place = self.train_loader.state_dict()
        self.say(f"going on in epoch {place['epoch'] + 1}, after {place['samples']} of its "
                 f"{self.train_loader.samples} images")


def main(arguments=None):
    options = parse(arguments)
    try:
        if options.device == "cuda":
            check_cuda()
        if "RANK" in os.environ:  # torchrun's
            dist.init_process_group("nccl" if options.device == "cuda" else "gloo")
        Trainer(options).run()
    except imgpack.Error as error:
        sys.exit(f"train.py: {error}")
    finally:
        if dist.is_initialized():
            dist.destroy_process_group()


if __name__ == "__main__":
    main()
