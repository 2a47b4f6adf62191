"""Steps of training MobileNetV2 in processes of their own, one for each rank, on the batches of several sources in turns."""
import json
import os
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import torch
import torch.distributed as dist
import torchvision
from torch.nn.functional import cross_entropy, relu6
from torch.nn.parallel import DataParallel, DistributedDataParallel

from page_cache import evict
from sources import LOADERS, SYNTHETIC, Reading, synthetic

SINGLE, DATA_PARALLEL, DISTRIBUTED = "single", "DataParallel", "DistributedDataParallel"


@dataclass(frozen=True)
class Group:
    """Runs that differ in where batches come from only. batch: of all devices together. precision: fp32 or bf16."""

    device: str
    devices: int
    parallel: str
    precision: str
    batch: int

    @property
    def ranks(self):
        return self.devices if self.parallel == DISTRIBUTED else 1


@dataclass(frozen=True)
class Source:
    """A row of the table: a loader, and where it reads. files: what is to be evicted before a cold turn."""

    loader: str
    disk: str = ""
    folder: str = ""
    packed: str = ""
    files: tuple = ()


@dataclass(frozen=True)
class Settings:
    """workers: of all ranks together. cold: evict a source's files before each turn."""

    size: int
    width: float
    classes: int
    steps: int
    warm_up: int
    rounds: int
    workers: int
    cold: bool


def why_not(group):
    """Why a group can't be run here, or None."""
    gpus = torch.cuda.device_count()
    if group.parallel == DATA_PARALLEL and (group.device == "cpu" or gpus < 2):
        return f"{DATA_PARALLEL} needs at least two GPUs, and torch sees {gpus}"
    if group.device == "cuda" and group.devices > gpus:
        return f"{group.devices} GPUs are needed, and torch sees {gpus}"
    if group.batch % group.devices:
        return f"a batch of {group.batch} can't be shared evenly by {group.devices}"
    if group.precision == "bf16":
        try:  # MobileNetV2's activation, whose gradient torch before version 2 lacks on CPUs
            relu6(torch.zeros(1, dtype=torch.bfloat16, device=group.device, requires_grad=True)).backward()
        except RuntimeError as error:
            return f"torch {torch.__version__} can't train MobileNetV2 in bfloat16 here: {error}"
    return None


def run(group, sources, settings):
    """For each source in order, {"seconds": of the steps in each round, "resident": before each cold round}.

    Raises what a rank has raised.
    """
    if group.device == "cpu":
        # Each rank has its part of the CPUs. BLAS has threads of its own, which torch does not rule everywhere; and those
        # that wait must not spin, since loading needs the same CPUs. Processes that are spawned read this when they start.
        threads = str(max(1, len(os.sched_getaffinity(0)) // group.ranks))
        os.environ.update(OMP_NUM_THREADS=threads, OPENBLAS_NUM_THREADS=threads, OMP_WAIT_POLICY="PASSIVE")
    with tempfile.TemporaryDirectory() as folder:
        torch.multiprocessing.spawn(_rank_main, (group, sources, settings, folder), nprocs=group.ranks)
        return json.loads((Path(folder) / "results.json").read_text())


def _rank_main(rank, group, sources, settings, folder):
    if group.device == "cuda":
        torch.cuda.set_device(rank)
        torch.backends.cudnn.benchmark = True
    if group.ranks > 1:
        dist.init_process_group("nccl" if group.device == "cuda" else "gloo", init_method=f"file://{folder}/meeting",
                                rank=rank, world_size=group.ranks)
    results = _Rank(rank, group, settings).measure(sources)
    if rank == 0:
        (Path(folder) / "results.json").write_text(json.dumps(results))
    if group.ranks > 1:
        dist.destroy_process_group()


class _Rank:
    def __init__(self, rank, group, settings):
        self.rank, self.group, self.settings = rank, group, settings
        self.device = torch.device(group.device, rank) if group.device == "cuda" else torch.device("cpu")
        torch.manual_seed(0)
        model = torchvision.models.mobilenet_v2(num_classes=settings.classes, width_mult=settings.width)
        model = model.to(self.device)
        if group.device == "cuda":
            model = model.to(memory_format=torch.channels_last)
        if group.parallel == DISTRIBUTED:
            model = DistributedDataParallel(model, device_ids=[rank] if group.device == "cuda" else None)
        elif group.parallel == DATA_PARALLEL:
            model = DataParallel(model, list(range(group.devices)))
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)

    def measure(self, sources):
        results = [{"seconds": [], "resident": []} for _ in sources]
        for number in range(self.settings.rounds):
            shift = number % len(sources)
            for index in [*range(shift, len(sources)), *range(shift)]:
                if self.settings.cold and self.rank == 0:
                    results[index]["resident"].append(evict(sources[index].files))
                self.wait_for_all()
                results[index]["seconds"].append(self.turn(sources[index]))
        return results

    def turn(self, source):
        """Seconds of the steps after those to warm up, on a source that is opened for this turn."""
        ranks = self.group.ranks
        make = synthetic if source.loader == SYNTHETIC else LOADERS[source.loader]
        batches = make(Reading(source.folder, source.packed, self.group.batch // ranks, self.settings.size,
                               max(1, self.settings.workers // ranks), self.device, self.rank, ranks))
        for _ in range(self.settings.warm_up):
            self.step(*next(batches))
        self.wait_for_all()
        begin = time.perf_counter()
        for _ in range(self.settings.steps):
            self.step(*next(batches))
        self.wait_for_all()
        seconds = time.perf_counter() - begin
        batches.close()
        return seconds

    def step(self, images, labels):
        with torch.autocast(self.group.device, torch.bfloat16, enabled=self.group.precision == "bf16"):
            loss = cross_entropy(self.model(images), labels)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.optimizer.step()

    def wait_for_all(self):
        if self.group.device == "cuda":
            torch.cuda.synchronize()
        if self.group.ranks > 1:
            dist.barrier()
