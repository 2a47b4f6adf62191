"""What the benchmarks in Python share: medians with spread, tables, files of results, and under which conditions they arose."""
import csv
import json
import os
import platform
import statistics
from pathlib import Path


class Rounds:
    """The values of one thing measured in several rounds, in their order."""

    def __init__(self, values):
        self.values = list(values)

    @property
    def median(self):
        return statistics.median(self.values)

    @property
    def spread(self):
        """How far apart the extremes lie, as a share of the median."""
        return (max(self.values) - min(self.values)) / self.median

    def to_json(self):
        return {"median": self.median, "min": min(self.values), "max": max(self.values), "spread": self.spread,
                "rounds": self.values}


def markdown(columns, rows):
    """A table that reads well both as plain text and as Markdown. Cells are texts; numbers stand on the right."""
    def is_number(text):
        return text[:1].isdigit()

    widths = [max(len(row[i]) for row in [columns, *rows]) for i in range(len(columns))]
    lines = [columns, ["-" * width for width in widths], *rows]
    return "\n".join("| " + " | ".join(cell.rjust(width) if is_number(cell) else cell.ljust(width)
                                       for cell, width in zip(line, widths)) + " |" for line in lines)


def write_json(path, content):
    Path(path).write_text(json.dumps(content, indent=1) + "\n")


def write_csv(path, columns, rows):
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, columns, restval="", extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)


def conditions(modules=()):
    """What figures depend on besides the code. `modules`: imported ones whose versions count."""
    return {"cpu": _cpu_name(), "cpus": len(os.sched_getaffinity(0)), "kernel": platform.release(),
            "load_average": os.getloadavg()[0], "python": platform.python_version(),
            "versions": {module.__name__: getattr(module, "__version__", "unknown") for module in modules}}


def _cpu_name():
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def file_system(path):
    """The type of the file system that a path lies on, as Linux names it: "ext4", "tmpfs"."""
    path = os.path.realpath(path)
    best, kind = "", "unknown"
    for line in Path("/proc/self/mounts").read_text().splitlines():
        _, point, name = line.split()[:3]
        point = point.encode().decode("unicode_escape")  # blanks are written as \040
        if len(point) >= len(best) and os.path.commonpath([point, path]) == point:
            best, kind = point, name
    return kind
