import os
import subprocess
from pathlib import Path

import pytest

import imgpack

MAKE_IMAGES = os.path.abspath(os.environ["IMGPACK_MAKE_IMAGES"])


def make_images(folder, classes=3, per_class=6):
    subprocess.run([MAKE_IMAGES, str(folder), str(classes), str(per_class)], check=True)
    return Path(folder)


@pytest.fixture(scope="session")
def images(tmp_path_factory):
    """train/ and val/ with three classes: 18 and 6 images."""
    return make_images(tmp_path_factory.mktemp("source") / "images")


@pytest.fixture(scope="session")
def packed(images, tmp_path_factory):
    path = tmp_path_factory.mktemp("packed") / "images.rec"
    imgpack.build(images, path)
    return path


@pytest.fixture(scope="session")
def many_images(tmp_path_factory):
    """Enough images that a build can be caught in the middle."""
    return make_images(tmp_path_factory.mktemp("source") / "many", classes=10, per_class=300)
