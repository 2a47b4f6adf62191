"""MosaicML Streaming: MDS shards that lie on this machine, so that nothing is downloaded."""
import shutil

from job import LoaderPeer


class StreamingPeer(LoaderPeer):
    key = "streaming"
    name = "MosaicML Streaming"
    package = "streaming"
    needs = ("torchvision", "streaming")
    order = "py1e: shuffled within blocks of shards"

    def prepare(self):
        from streaming import MDSWriter
        self.path = self.job.work / "mds"
        shutil.rmtree(self.path, ignore_errors=True)
        with MDSWriter(out=str(self.path), columns={"image": "bytes", "label": "int"}) as writer:
            for path, label in self.job.samples():
                with open(path, "rb") as file:
                    writer.write({"image": file.read(), "label": label})
        return [self.path]

    def random_read(self):
        from streaming import LocalDataset
        data = LocalDataset(str(self.path))
        return lambda index: data[index]["image"]

    def dataset(self):
        import pillow
        from streaming import StreamingDataset
        from streaming.base.util import clean_stale_shared_memory

        class Images(StreamingDataset):
            transform = pillow.transform(self.job)

            def __getitem__(self, index):
                sample = super().__getitem__(index)
                return self.transform(pillow.decode(sample["image"])), sample["label"]

        clean_stale_shared_memory()
        return Images(local=str(self.path), shuffle=True, batch_size=self.job.batch)


PEERS = [StreamingPeer]
