"""h5py: a dataset of variable-length byte arrays, which is how image files are mostly kept in HDF5, and one of labels."""
import numpy as np

from job import LoaderPeer


class H5pyPeer(LoaderPeer):
    key = "h5py"
    name = "h5py"
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


PEERS = [H5pyPeer]
