"""h5py, and the two ways in which image files are kept in HDF5: as variable-length arrays of bytes, or as one array with
offsets, which takes more care to write."""
import os

import numpy as np

from job import LoaderPeer


class H5pyPeer(LoaderPeer):
    key = "h5py"
    name = "h5py, variable-length arrays"
    needs = ("torchvision", "h5py")

    def prepare(self):
        import h5py
        samples = self.job.samples()
        self.path = self.job.work / "py.h5"
        with h5py.File(self.path, "w") as file:
            images = file.create_dataset("images", (len(samples),), h5py.vlen_dtype(np.uint8))
            for index, (path, _) in enumerate(samples):
                images[index] = np.fromfile(path, np.uint8)
            self.labels = np.array([label for _, label in samples], np.int64)
            file["labels"] = self.labels
        return [self.path]

    def random_read(self):
        import h5py
        images = h5py.File(self.path, "r")["images"]
        return lambda index: images[index]  # an array with memory of its own

    def dataset(self):
        import pillow
        return pillow.StoredImages(self.random_read, self.labels, self.job)


class FlatH5pyPeer(LoaderPeer):
    key = "h5py-flat"
    name = "h5py, one array and offsets"
    needs = ("torchvision", "h5py")

    def prepare(self):
        import h5py
        samples = self.job.samples()
        self.path = self.job.work / "flat.h5"
        self.offsets = np.cumsum([0, *(os.path.getsize(path) for path, _ in samples)])
        self.labels = np.array([label for _, label in samples], np.int64)
        with h5py.File(self.path, "w") as file:
            images = file.create_dataset("images", (self.offsets[-1],), np.uint8)
            for index, (path, _) in enumerate(samples):
                images[self.offsets[index]:self.offsets[index + 1]] = np.fromfile(path, np.uint8)
            file["offsets"] = self.offsets
            file["labels"] = self.labels
        return [self.path]

    def random_read(self):
        import h5py
        images = h5py.File(self.path, "r")["images"]
        offsets = self.offsets.tolist()
        return lambda index: images[offsets[index]:offsets[index + 1]]  # an array with memory of its own

    def dataset(self):
        import pillow
        return pillow.StoredImages(self.random_read, self.labels, self.job)


PEERS = [H5pyPeer, FlatH5pyPeer]
