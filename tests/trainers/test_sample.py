"""The long form of test_train_cpp.py: the real images of the folder that IMGPACK_TEST_DATA names.

309 images are too few for val's top-1 to say much: it stays near that of the most frequent class. The loss does fall.
"""
import os
from pathlib import Path

import pytest

if not os.environ.get("IMGPACK_TEST_DATA"):
    pytest.skip("IMGPACK_TEST_DATA is not set", allow_module_level=True)

from epoch_lines import epoch_lines  # noqa: E402
from test_train_cpp import pack, train  # noqa: E402

SAMPLE = Path(os.environ["IMGPACK_TEST_DATA"]) / "imagenet-sample"


def test_the_loss_falls_on_real_images(tmp_path):
    packed = pack(SAMPLE, tmp_path / "sample.rec", "--encode", "jpeg", "--resize", "128")
    printed = train(packed, "--size", 64, "--width", 0.35, "--epochs", 40, "--batch-size", 16, "--lr", 0.01,
                    "--crop-scale", 0.6, "--seed", 1, timeout=1200)
    assert printed.startswith("309 images to train on, 77 to check, 5 classes")
    lines = epoch_lines(printed)
    assert len(lines) == 40 and lines[-1].loss < 0.8 * lines[0].loss
