#!/usr/bin/env python3
"""Loaders x disks x devices x batch sizes: how fast MobileNetV2 trains on each, as one table and one figure.

    run.py FOLDER [--disk NAME=PATH ...] [--devices N ...] [--batch-sizes N ...] [--precisions fp32 bf16] [--quick]
           [--figure FILE.svg] [--json FILE] [--csv FILE]

FOLDER has folders of images for each class, at any depth. On each disk it is copied and packed, below a folder that is
removed in the end. --quick is for a machine without a GPU: small images, few steps. What is compared, and how:
README.md beside this file. What can't be run here is named with the reason; the exit status is 1 if a run failed.
"""
import argparse
import contextlib
import os
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import torch
import torchvision

import imgpack
import sources
import training
from bars import Bar, write_svg
from results import Rounds, conditions, file_system, markdown, write_csv, write_json
from training import DATA_PARALLEL, DISTRIBUTED, SINGLE, Group, Settings, Source

COLUMNS = ("Dataloader", "Disk", "GPU", "Batch size", "Time(s)", "Steps", "Samples/s", "Speed", "GPU Efficiency")
CSV_COLUMNS = ("status", "reason", "loader", "disk", "file_system", "device", "devices", "parallel", "precision",
               "batch", "seconds", "steps", "samples_per_second", "min", "max", "spread", "speed", "efficiency",
               "resident")
QUICK = {"size": 64, "batch_sizes": [32], "steps": 6, "warm_up": 2, "rounds": 3}


def parse(arguments):
    gpus = torch.cuda.device_count()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("folder", type=Path)
    add("--disk", action="append", metavar="NAME=PATH", help="default: the folder of temporary files, and /dev/shm")
    add("--copies", type=int, default=1, help="each image so many times, to make a longer epoch of a small folder")
    add("--loaders", nargs="+", choices=list(sources.LOADERS), default=list(sources.LOADERS))
    add("--devices", type=int, nargs="+", default=sorted({1, gpus}) if gpus else [1, 2], metavar="N",
        help="numbers of GPUs; without a GPU, of processes on the CPU. Default: 1, and all or 2")
    add("--parallel", nargs="+", choices=[DATA_PARALLEL, DISTRIBUTED], default=[DATA_PARALLEL, DISTRIBUTED],
        help="how several devices share a batch")
    add("--precisions", nargs="+", choices=["fp32", "bf16"], default=["fp32", "bf16"])
    add("--batch-sizes", type=int, nargs="+", default=[64, 256], metavar="N", help="of all devices together")
    add("--size", type=int, default=224)
    add("--width", type=float, default=1.0, help="width multiplier of the network")
    add("--steps", type=int, default=60)
    add("--warm-up", type=int, default=10, help="steps before those that count")
    add("--rounds", type=int, default=3)
    add("--workers", type=int, default=len(os.sched_getaffinity(0)), help="of all ranks together")
    add("--cold", action="store_true", help="throw a source's files out of the page cache before each turn")
    add("--baseline", choices=list(sources.LOADERS), default="ImageFolder", help="default: %(default)s")
    add("--quick", action="store_true", help=", ".join(f"{name} {value}" for name, value in QUICK.items()))
    add("--figure", type=Path, metavar="FILE.svg")
    add("--json", type=Path)
    add("--csv", type=Path)
    if "--quick" in arguments:
        parser.set_defaults(**QUICK)
    options = parser.parse_args(arguments)
    options.disk = [disk_of(parser, text) for text in options.disk or default_disks()]
    return options


def disk_of(parser, text):
    name, _, path = text.partition("=")
    if not name or not Path(path).is_dir():
        parser.error(f"--disk {text}: it is NAME=PATH, and PATH a folder")
    return name, Path(path).resolve()


def default_disks():
    disks = [f"temporary files={tempfile.gettempdir()}"]
    return disks + (["memory=/dev/shm"] if Path("/dev/shm").is_dir() else [])


class Disk:
    """The images on a disk, loose and packed."""

    def __init__(self, name, path, folder, source, copies):
        self.name, self.file_system = name, file_system(path)
        self.folder, self.packed = str(folder / "images"), str(folder / "images.rec")
        subprocess.run([sys.executable, HERE.parent / "many_copies.py", source, self.folder, str(copies)], check=True)
        imgpack.build(self.folder, self.packed)
        self.loose_files = tuple(str(file) for file in Path(self.folder).rglob("*") if file.is_file())

    def source(self, loader):
        files = self.loose_files if loader == "ImageFolder" else (self.packed,)
        return Source(loader, self.name, self.folder, self.packed, files)


def groups_of(options):
    device = "cuda" if torch.cuda.is_available() else "cpu"
    for batch in options.batch_sizes:
        for devices in options.devices:
            for parallel in [SINGLE] if devices == 1 else options.parallel:
                for precision in options.precisions:
                    yield Group(device, devices, parallel, precision, batch)


def device_text(group):
    """The cell of the column GPU."""
    if group.device == "cpu":
        name = "none, CPU" if group.devices == 1 else f"none, {group.devices} processes on the CPU"
    else:
        name = torch.cuda.get_device_name() if group.devices == 1 else f"{group.devices} x {torch.cuda.get_device_name()}"
    return ", ".join([name, *([] if group.parallel == SINGLE else [group.parallel]), group.precision])


def run_group(group, disks, options, settings, records):
    """A row for each source."""
    wanted = [Source(sources.SYNTHETIC), *(disk.source(loader) for loader in options.loaders for disk in disks)]
    common = {"device": group.device, "devices": group.devices, "parallel": group.parallel,
              "precision": group.precision, "batch": group.batch, "gpu": device_text(group)}
    rows = [{"loader": source.loader, "disk": source.disk, **common, "status": "measured", "reason": None}
            for source in wanted]
    reason = training.why_not(group)
    if reason is None and records < group.batch:
        reason = f"{records} images are fewer than a batch of {group.batch}"
    for source, row in zip(wanted, rows):
        row["reason"] = reason or sources.why_not(source.loader, group, disks[0].packed)
        row["status"] = "skipped" if row["reason"] else "measured"
    chosen = [index for index, row in enumerate(rows) if row["status"] == "measured"]
    if reason is not None or not chosen:
        return rows
    print(f"{device_text(group)}, batches of {group.batch}", file=sys.stderr, flush=True)
    try:
        results = training.run(group, [wanted[index] for index in chosen], settings)
    except Exception as error:
        traceback.print_exc()
        for index in chosen:
            rows[index].update(status="failed", reason=str(error).strip().splitlines()[-1])
        return rows
    for index, result in zip(chosen, results):
        rows[index].update(result)
    return rows


def compare(rows, settings, baseline):
    """Adds rates, and within a group's rows what they are relative to."""
    for row in rows:
        if row["status"] == "measured":
            row["samples_per_second"] = Rounds(row["batch"] * settings.steps / value for value in row["seconds"])
    rates = {(row["loader"], row["disk"]): row["samples_per_second"].median
             for row in rows if row["status"] == "measured"}
    for row in rows:
        if row["status"] == "measured":
            rate = row["samples_per_second"].median
            # The synthetic batch lies on no disk: it is compared with the baseline on the first one.
            of = rates.get((baseline, row["disk"])) or next(
                (value for (loader, _), value in rates.items() if loader == baseline), None)
            row["speed"] = rate / of if of else None
            row["efficiency"] = rate / rates[(sources.SYNTHETIC, "")]


def table(rows, disks, steps):
    kinds = {disk.name: f"{disk.name} ({disk.file_system})" for disk in disks}
    cells = []
    for row in rows:
        if row["status"] == "measured":
            rate = row["samples_per_second"]
            seconds = Rounds(row["seconds"]).median
            cells.append([row["loader"], kinds.get(row["disk"], "-"), row["gpu"], str(row["batch"]), f"{seconds:.2f}",
                          str(steps), f"{rate.median:.0f}", f"{row['speed']:.2f}" if row["speed"] else "-",
                          f"{row['efficiency']:.1%}"])
    return markdown(COLUMNS, cells)


def skipped(rows):
    """A line for each reason: which loader it concerns, or which devices if it concerns every loader there."""
    loaders, everywhere = {}, {}
    for row in rows:
        if row["status"] != "measured":
            loaders.setdefault((row["status"], row["reason"]), []).append(row["loader"])
            everywhere.setdefault((row["status"], row["reason"]), []).append(f"{row['gpu']}, batches of {row['batch']}")
    for (status, reason), names in loaders.items():
        concerned = everywhere[status, reason] if sources.SYNTHETIC in names else names
        yield f"{status}: {'; '.join(dict.fromkeys(concerned))}: {reason}"


def figure_groups(rows):
    groups = {}
    for row in rows:
        if row["status"] == "measured":
            rate = row["samples_per_second"]
            label = f"{row['loader']}, {row['disk']}" if row["disk"] else row["loader"]
            groups.setdefault(f"{row['gpu']}, batches of {row['batch']}", []).append(
                Bar(label, row["loader"], rate.median, min(rate.values), max(rate.values)))
    return list(groups.items())


def plain(row, disks, steps):
    """A row as JSON and CSV take it."""
    plain_row = {key: value for key, value in row.items() if key != "samples_per_second"}
    plain_row["file_system"] = next((disk.file_system for disk in disks if disk.name == row["disk"]), None)
    if row["status"] == "measured":
        rate = row["samples_per_second"]
        plain_row.update(seconds=Rounds(row["seconds"]).median, steps=steps, samples_per_second=rate.median,
                         min=min(rate.values), max=max(rate.values), spread=rate.spread, rounds=rate.values)
    return plain_row


def main():
    options = parse(sys.argv[1:])
    with contextlib.ExitStack() as stack:
        disks = [Disk(name, path, Path(stack.enter_context(tempfile.TemporaryDirectory(dir=path, prefix="imgpack-"))),
                      options.folder, options.copies) for name, path in options.disk]
        data = imgpack.Dataset(disks[0].packed)
        settings = Settings(options.size, options.width, len(data.classes), options.steps, options.warm_up,
                            options.rounds, options.workers, options.cold)
        before = conditions((torch, torchvision, imgpack))
        rows = []
        for group in groups_of(options):
            of_group = run_group(group, disks, options, settings, len(data))
            compare(of_group, settings, options.baseline)
            rows += of_group
    print(table(rows, disks, options.steps))
    for line in skipped(rows):
        print(line)
    print(f"MobileNetV2, width {options.width:g}, images of {options.size}x{options.size}, {len(data)} in the folder, "
          f"{options.workers} workers, medians of {options.rounds} rounds; Speed: of {options.baseline} on the same disk; "
          f"{before['cpus']} CPUs, load {before['load_average']:.1f} before, {os.getloadavg()[0]:.1f} after")
    rows_out = [plain(row, disks, options.steps) for row in rows]
    if options.json:
        write_json(options.json, {
            "benchmark": "experiments", "conditions": before, "images": len(data), "size": options.size,
            "width": options.width, "workers": options.workers, "cold": options.cold, "baseline": options.baseline,
            "rows": rows_out})
    if options.csv:
        write_csv(options.csv, CSV_COLUMNS, rows_out)
    if options.figure:
        write_svg(options.figure, "Training MobileNetV2: samples a second", figure_groups(rows), "samples/s")
    return int(any(row["status"] == "failed" for row in rows))


if __name__ == "__main__":
    sys.exit(main())
