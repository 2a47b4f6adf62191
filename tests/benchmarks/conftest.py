import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
sys.path[:0] = [str(BENCHMARKS), str(BENCHMARKS / "peers"), str(BENCHMARKS / "experiments")]


def write_images(folder, classes, per_class, sides):
    """Smooth JPEGs, no two alike; sides: of whichever lengths heights and widths are drawn."""
    noise = np.random.default_rng(3)
    for name in classes:
        (folder / name).mkdir(parents=True)
        for number in range(per_class):
            height, width = (int(side) for side in noise.choice(sides, 2))
            pixels = Image.fromarray(noise.integers(0, 256, (4, 4, 3), np.uint8))
            pixels.resize((width, height), Image.BICUBIC).save(folder / name / f"{number}.jpg", quality=92)
    return folder


@pytest.fixture(scope="session")
def images(tmp_path_factory):
    """21 images of different sizes in three classes."""
    return write_images(tmp_path_factory.mktemp("images") / "all", ("ant", "bee", "cow"), 7, range(40, 70))


@pytest.fixture(scope="session")
def equal_images(tmp_path_factory):
    """The same number, each of 48x48 pixels."""
    return write_images(tmp_path_factory.mktemp("equal") / "all", ("ant", "bee", "cow"), 7, [48])
