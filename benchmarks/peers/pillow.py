"""Decoding with Pillow and torchvision's transforms: what most training programs do with the bytes of an image."""
import io

import torch
from PIL import Image
from torchvision import transforms

from job import MEAN, RATIO, SCALE, STD


def transform(job):
    """From an image of Pillow to a normalised tensor."""
    random = [transforms.RandomResizedCrop(job.size, SCALE, RATIO), transforms.RandomHorizontalFlip()] if job.crop else []
    return transforms.Compose([*random, transforms.ToTensor(), transforms.Normalize(MEAN, STD)])


def decode(data):
    """From bytes, or an array of them, to an image of Pillow."""
    return Image.open(io.BytesIO(data)).convert("RGB")


class StoredImages(torch.utils.data.Dataset):
    """Samples of a store: `open_store()` gives a function from a number to bytes, and is called in each process anew."""

    def __init__(self, open_store, labels, job):
        self.open_store = open_store
        self.labels = labels
        self.transform = transform(job)
        self.read = None

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        if self.read is None:
            self.read = self.open_store()
        return self.transform(decode(self.read(index))), int(self.labels[index])
