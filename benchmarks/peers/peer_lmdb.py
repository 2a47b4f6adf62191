"""py-lmdb: the files' bytes as values, numbers as keys, labels in an array beside them."""
import numpy as np

from job import LoaderPeer


class LmdbPeer(LoaderPeer):
    key = "lmdb"
    name = "py-lmdb"
    needs = ("torchvision", "lmdb")

    def prepare(self):
        import lmdb
        samples = self.job.samples()
        self.path = self.job.work / "py.lmdb"
        self.labels = np.array([label for _, label in samples], np.int64)
        with lmdb.open(str(self.path), subdir=False, map_size=1 << 40, lock=False) as store:
            with store.begin(write=True) as transaction:
                for index, (path, _) in enumerate(samples):
                    with open(path, "rb") as file:
                        transaction.put(b"%08d" % index, file.read(), append=True)
        return [self.path]

    def random_read(self):
        import lmdb
        store = lmdb.open(str(self.path), subdir=False, readonly=True, lock=False, readahead=False)
        transaction = store.begin()
        return lambda index: transaction.get(b"%08d" % index)

    def dataset(self):
        import pillow
        return pillow.StoredImages(self.random_read, self.labels, self.job)


PEERS = [LmdbPeer]
