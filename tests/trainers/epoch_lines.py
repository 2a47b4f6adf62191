"""What the trainers print, as numbers."""
import re
from dataclasses import dataclass

LINE = re.compile(r"^epoch (\d+)/(\d+): loss ([\d.]+), top-1 ([\d.]+) %, \d+ images/s$", re.MULTILINE)
MAJORITY = re.compile(r"the most frequent one is ([\d.]+) % of val$", re.MULTILINE)


@dataclass(frozen=True)
class EpochLine:
    number: int
    of: int
    loss: float
    top1: float  # per cent


def epoch_lines(text):
    return [EpochLine(int(number), int(of), float(loss), float(top1)) for number, of, loss, top1 in LINE.findall(text)]


def majority(text):
    """Per cent that are right by always answering val's most frequent class."""
    return float(MAJORITY.search(text).group(1))
