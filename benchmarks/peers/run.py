#!/usr/bin/env python3
"""The same job with what people use today and with imgpack, in turns, as one table.

    run.py FOLDER --work DIR [--copies N] [--batch N] [--workers N] [--seconds S] [--rounds N] [--json FILE] [--csv FILE]
    run.py FOLDER --work DIR --install          first makes DIR/venv with what pip can install of the peers

FOLDER has a folder of images for each class, as for torchvision's ImageFolder; with --copies any folder of class folders
does, at any depth. What is measured, and what is fair in it and what is not: README.md beside this file. A peer that can't
work here is named with the reason; one that fails makes the exit status 1.
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import installing
from job import Job
from measuring import MEASURES, Contestant, Loading, RandomReads, measure
from registry import PEERS
from results import conditions, file_system, markdown, write_csv, write_json

HERE = Path(__file__).resolve().parent
MANY_COPIES = HERE.parent / "many_copies.py"
TITLES = {"random_read": "Random read, records/s", "loader": "Loader, images/s"}
CSV_COLUMNS = ("peer", "status", "reason", "measure", "per_second", "min", "max", "spread", "ratio", "rounds",
               "stored_bytes", "pixels", "order")


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("folder", type=Path)
    add("--work", type=Path, required=True, help="where peers write their files, which are removed in the end")
    add("--copies", type=int, default=1, help="each image so many times, to make a longer epoch of a small folder")
    add("--batch", type=int, default=64)
    add("--size", type=int, default=224)
    add("--workers", type=int, default=len(os.sched_getaffinity(0)), help="processes, or threads, of each peer")
    add("--seconds", type=float, default=3, help="of a turn, at least")
    add("--rounds", type=int, default=5)
    add("--measure", nargs="+", choices=MEASURES, default=list(MEASURES))
    add("--only", nargs="+", choices=[peer.key for peer in PEERS], metavar="PEER",
        help="only these: " + ", ".join(peer.key for peer in PEERS))
    add("--baseline", default="image-folder", choices=[peer.key for peer in PEERS], metavar="PEER",
        help="to which ratios are; default: %(default)s")
    add("--json", type=Path)
    add("--csv", type=Path)
    add("--install", nargs="*", choices=list(installing.requirements()), metavar="PEER",
        help="install these peers' requirements, or all but large ones, into DIR/venv, and run there")
    add("--install-seconds", type=float, default=300, help="for each peer's requirements")
    options = parser.parse_args(arguments)
    if not options.folder.is_dir():
        parser.error(f"{options.folder} is no folder")
    return options


def images_of(options):
    """The folder that all peers read."""
    if options.copies == 1:
        return options.folder.resolve()
    copies = options.work.resolve() / f"images-{options.copies}"
    shutil.rmtree(copies, ignore_errors=True)
    subprocess.run([sys.executable, MANY_COPIES, options.folder, copies, str(options.copies)], check=True)
    return copies


def run(options, files):
    """All contestants, measured, and what the job was. files: an empty folder for what they write."""
    job = Job(images_of(options), files, options.batch, options.workers, options.size)
    records = len(job.samples())
    not_installed = installing.reasons(options.work / "venv")
    contestants = [Contestant(peer(job), not_installed.get(peer.package))
                   for peer in PEERS if not options.only or peer.key in options.only]
    for contestant in contestants:
        contestant.prepare()
    if "random_read" in options.measure:
        measure(RandomReads(records, options.seconds), contestants, options.rounds)
    if "loader" in options.measure:
        measure(Loading(job, records, options.seconds), contestants, options.rounds)
    for contestant in contestants:
        contestant.peer.close()
    return contestants, {"folder": str(options.folder), "copies": options.copies, "records": records,
                         "batch": options.batch, "workers": options.workers, "size": options.size,
                         "seconds": options.seconds, "rounds": options.rounds,
                         "file_system": file_system(options.work)}


def ratio(contestants, contestant, measure_name, baseline):
    """To the baseline's median, or None without one."""
    for other in contestants:
        if other.key == baseline and measure_name in other.figures:
            return contestant.figures[measure_name].median / other.figures[measure_name].median
    return None


def table(contestants, options):
    measures = [name for name in MEASURES if name in options.measure]
    columns = ["Peer"]
    for name in measures:
        columns += [TITLES[name], "spread", f"of {options.baseline}"]
    columns += ["Stored, MB", "Pixels"]
    rows = []
    for contestant in contestants:
        if contestant.status != "measured":
            continue
        cells = [contestant.name]
        for name in measures:
            figure = contestant.figures.get(name)
            if figure is None:
                cells += ["-", "", ""]
                continue
            of = ratio(contestants, contestant, name, options.baseline)
            cells += [f"{figure.median:.0f}", f"{figure.spread:.0%}", "" if of is None else f"{of:.2f}"]
        rows.append([*cells, f"{contestant.stored / 1e6:.1f}", contestant.peer.pixels])
    return markdown(columns, rows)


def remarks(contestants):
    for contestant in contestants:
        if contestant.status != "measured":
            yield f"{contestant.status}: {contestant.name}: {contestant.reason}"
        for name, reason in contestant.not_offered.items():
            yield f"no {name.replace('_', ' ')}: {contestant.name}: {reason}"


def as_json(contestants, options):
    for contestant in contestants:
        figures = {name: {**figure.to_json(), "ratio": ratio(contestants, contestant, name, options.baseline)}
                   for name, figure in contestant.figures.items()}
        yield {"key": contestant.key, "peer": contestant.name, "status": contestant.status, "reason": contestant.reason,
               "pixels": contestant.peer.pixels, "order": contestant.peer.order, "stored_bytes": contestant.stored,
               "not_offered": contestant.not_offered, "per_second": figures}


def as_csv(rows):
    """A line for each peer and measure; one for a peer without figures."""
    for row in rows:
        common = {name: row[name] for name in ("peer", "status", "reason", "stored_bytes", "pixels", "order")}
        if not row["per_second"]:
            yield common
        for name, figure in row["per_second"].items():
            yield {**common, "measure": name, "per_second": figure["median"], "min": figure["min"], "max": figure["max"],
                   "spread": figure["spread"], "ratio": figure["ratio"], "rounds": len(figure["rounds"])}


def main():
    options = parse(sys.argv[1:])
    environment = options.work.resolve() / "venv"
    if options.install is not None and Path(sys.prefix) != environment:
        options.work.mkdir(parents=True, exist_ok=True)
        installing.install(environment, options.install, options.install_seconds)
        sys.stdout.flush()
        python = str(environment / "bin" / "python")
        os.execv(python, [python, *sys.argv])
    warnings.filterwarnings("ignore", "Number of elements in the iterator")  # tfrecord's, of a small folder
    import torch
    import torchvision
    before = conditions((torch, torchvision))
    options.work.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=options.work.resolve(), prefix="files-") as files:
        contestants, job = run(options, Path(files))
    print(table(contestants, options))
    for line in remarks(contestants):
        print(line)
    print(f"{job['records']} images, batches of {job['batch']}, {job['workers']} workers, {job['rounds']} rounds of "
          f"{job['seconds']:g} s, medians; {job['file_system']}, page cache warm; {before['cpus']} CPUs, load "
          f"{before['load_average']:.1f} before, {os.getloadavg()[0]:.1f} after")
    rows = list(as_json(contestants, options))
    if options.json:
        write_json(options.json, {"benchmark": "peers", "conditions": before, "job": job, "baseline": options.baseline,
                                  "rows": rows})
    if options.csv:
        write_csv(options.csv, CSV_COLUMNS, as_csv(rows))
    return int(any(contestant.status == "failed" for contestant in contestants))



if __name__ == "__main__":
    sys.exit(main())
