"""One rank of a training run with NCCL: prints the records of its batches, and then a digest of its weights."""
import os
import sys
import zlib

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

import imgpack


def main(packed):
    number = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(number)
    dist.init_process_group("nccl")
    torch.manual_seed(1)
    layers = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.LazyLinear(3))
    layers(torch.zeros(1, 3, 32, 32))
    model = DistributedDataParallel(layers.cuda(), device_ids=[number])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    train = imgpack.Loader(packed, split="train", global_batch_size=8, seed=7, device="cuda", with_indices=True,
                           with_mask=True, last_batch="pad", transform=[imgpack.RandomResizedCrop(32)])
    records = []
    for images, labels, indices, mask in train:
        assert images.device.index == number
        loss = (torch.nn.functional.cross_entropy(model(images), labels, reduction="none") * mask).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        records += indices[mask.cpu()].tolist()
    weights = torch.cat([value.detach().flatten() for value in layers.parameters()]).cpu()
    print(*records)
    print(zlib.crc32(weights.numpy().tobytes()))
    dist.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1])
