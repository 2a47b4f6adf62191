"""The package with nothing but NumPy: neither torch nor Pillow can be imported, and nothing asks for them."""
import os
import subprocess
import sys
import tempfile

import numpy as np

import imgpack


def main():
    for missing in ("torch", "PIL"):
        try:
            __import__(missing)
        except ImportError:
            continue
        raise AssertionError(f"{missing} is there: this environment tests nothing")

    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([os.environ["IMGPACK_MAKE_IMAGES"], f"{folder}/images", "2", "3"], check=True)
        imgpack.build(f"{folder}/images", f"{folder}/images.rec")
        data = imgpack.Dataset(f"{folder}/images.rec")
        assert data.labels("train").tolist() == [0, 0, 0, 1, 1, 1]
        train = imgpack.MapDataset(data, split="train")
        image, label = train[5]
        assert isinstance(image, np.ndarray) and image.dtype == np.uint8 and image.shape[2] == 3 and label == 1
        loader = imgpack.Loader(data, split="train", batch_size=4, transform=[imgpack.RandomResizedCrop(8)])
        assert [(type(images), images.shape) for images, _ in loader] == [
            (np.ndarray, (4, 3, 8, 8)), (np.ndarray, (2, 3, 8, 8))]
        try:
            imgpack.Loader(data, device="cuda")
        except imgpack.UnsupportedError as error:
            assert "output='dlpack'" in str(error)
        else:
            raise AssertionError("NumPy arrays in the memory of a CUDA device")
        try:
            imgpack.MapDataset(data, image="pil")
        except ImportError as error:
            assert "Pillow" in str(error)
        else:
            raise AssertionError("an image of Pillow without Pillow")
    print(f"works with NumPy {np.__version__} alone")


if __name__ == "__main__":
    sys.exit(main())
