"""TFRecord read without TensorFlow, by the package `tfrecord`, which is what users of PyTorch take: one file of Examples,
its index of offsets for sharing it among workers, and a shuffle buffer."""
from job import SHUFFLE_BUFFER, LoaderPeer, NotOffered


class Transform:
    def __init__(self, job):
        import pillow
        self.transform = pillow.transform(job)

    def __call__(self, features):
        import pillow
        return self.transform(pillow.decode(features["image"])), int(features["label"][0])


class TfrecordPeer(LoaderPeer):
    key = "tfrecord"
    name = "tfrecord (TFRecord without TensorFlow)"
    package = "tfrecord"
    needs = ("torchvision", "tfrecord", "crc32c")
    order = f"each worker its own part of the file, in a buffer of {SHUFFLE_BUFFER}"

    def prepare(self):
        from tfrecord.tools.tfrecord2idx import create_index
        from tfrecord.writer import TFRecordWriter
        self.path = str(self.job.work / "py.tfrecord")
        self.index = str(self.job.work / "py.tfindex")
        writer = TFRecordWriter(self.path)
        for path, label in self.job.samples():
            with open(path, "rb") as file:
                writer.write({"image": (file.read(), "byte"), "label": (label, "int")})
        writer.close()
        create_index(self.path, self.index)
        return [self.path, self.index]

    def random_read(self):
        raise NotOffered("it reads from front to back")

    def dataset(self):
        from tfrecord.torch.dataset import TFRecordDataset
        return TFRecordDataset(self.path, self.index, {"image": "byte", "label": "int"}, SHUFFLE_BUFFER,
                               Transform(self.job))


PEERS = [TfrecordPeer]
