import pytest

from imgpack_cli import EXTENSIONS, FORMATS, imgpack, make_images


@pytest.fixture(scope="session")
def images(tmp_path_factory):
    """train/ and val/ with three classes: 18 and 6 images."""
    return make_images(tmp_path_factory.mktemp("source") / "images")


@pytest.fixture(scope="session")
def packed(images, tmp_path_factory):
    """{format: packed file} of `images`."""
    folder = tmp_path_factory.mktemp("packed")
    files = {name: folder / f"images.{EXTENSIONS[name]}" for name in FORMATS}
    for file in files.values():
        imgpack("build", images, file)
    return files


@pytest.fixture(scope="session")
def many_images(tmp_path_factory):
    """Enough images that a build can be caught in the middle."""
    return make_images(tmp_path_factory.mktemp("source") / "many", classes=10, per_class=150)
