"""imgpack: its own Loader on each of its formats and variants, and its MapDataset in a DataLoader."""
from job import MEAN, RATIO, SCALE, STD, LoaderPeer, NotOffered, Peer


class ImgpackPeer(Peer):
    """Subclasses say which file they are: `file` its name, `variant` the options of imgpack.build."""

    needs = ("torch", "imgpack")
    pixels = "imgpack, Pillow's bit for bit"
    file = ""
    variant = {}
    _loader = None

    def prepare(self):
        import imgpack
        self.path = self.job.work / self.file
        imgpack.build(self.job.folder, self.path, **self.variant)
        return [self.path]

    def random_read(self):
        import imgpack
        return imgpack.Dataset(self.path).payload

    def batches(self):
        import imgpack
        if self._loader is None:
            random = [imgpack.RandomResizedCrop(self.job.size, SCALE, RATIO), imgpack.HorizontalFlip()]
            # The next epoch's first batches would be made while another peer is measured.
            self._loader = imgpack.Loader(self.path, batch_size=self.job.batch, threads=max(1, self.job.workers),
                                          prefetch_next_epoch=False, output="torch",
                                          transform=[*(random if self.job.crop else []), imgpack.Normalize(MEAN, STD)])
        return iter(self._loader)

    def close(self):
        self._loader = None


class RecPeer(ImgpackPeer):
    key = "imgpack-rec"
    name = "imgpack, rec"
    file = "keep.rec"


class RawRecPeer(ImgpackPeer):
    key = "imgpack-raw"
    name = "imgpack, rec raw"
    file = "raw.rec"
    variant = {"encode": "raw"}


class SmallRawRecPeer(ImgpackPeer):
    key = "imgpack-raw-256"
    name = "imgpack, rec raw, shorter side 256"
    pixels = "imgpack, of images that were made smaller before"
    file = "raw-256.rec"
    variant = {"encode": "raw", "resize": 256}

    def unsuitable(self):
        return None if self.job.crop else "without crops there is nothing to make smaller before"


class PackedLmdbPeer(ImgpackPeer):
    key = "imgpack-lmdb"
    name = "imgpack, LMDB"
    file = "keep.lmdb"


class PackedHdf5Peer(ImgpackPeer):
    key = "imgpack-hdf5"
    name = "imgpack, HDF5"
    file = "keep.h5"


class PackedTfrecordPeer(ImgpackPeer):
    key = "imgpack-tfrecord"
    name = "imgpack, TFRecord"
    file = "keep.tfrecord"


class MapDatasetPeer(LoaderPeer):
    key = "imgpack-map-dataset"
    name = "imgpack.MapDataset in a DataLoader"
    needs = ("torchvision", "imgpack")
    pixels = "imgpack's decoder, Pillow's resize"

    def prepare(self):
        import imgpack
        self.path = self.job.work / "map-dataset.rec"
        imgpack.build(self.job.folder, self.path)
        return [self.path]

    def random_read(self):
        raise NotOffered("it reads the same file as imgpack, rec")

    def dataset(self):
        import imgpack
        import pillow
        return imgpack.MapDataset(self.path, transform=pillow.transform(self.job))


PEERS = [RecPeer, RawRecPeer, SmallRawRecPeer, PackedLmdbPeer, PackedHdf5Peer, PackedTfrecordPeer, MapDatasetPeer]
