"""WebDataset: tars of about equal size, several for each worker, and a shuffle buffer."""
from job import SHUFFLE_BUFFER, LoaderPeer, NotOffered

#: For each worker.
SHARDS = 4


def as_it_is(label):
    return label


class WebDatasetPeer(LoaderPeer):
    key = "webdataset"
    name = "WebDataset"
    package = "webdataset"
    needs = ("torchvision", "webdataset")
    order = f"shards, and in a buffer of {SHUFFLE_BUFFER}"

    def prepare(self):
        import random
        import webdataset
        samples = list(enumerate(self.job.samples()))
        random.Random(1).shuffle(samples)  # as its manual says: shards hold shuffled samples
        shards = SHARDS * max(1, self.job.workers)
        self.paths = [str(self.job.work / f"shard-{number:05d}.tar") for number in range(shards)]
        for number, path in enumerate(self.paths):
            with webdataset.TarWriter(path) as tar:
                for index, (image, label) in samples[number::shards]:
                    with open(image, "rb") as file:
                        tar.write({"__key__": f"{index:08d}", "jpg": file.read(), "cls": label})
        return self.paths

    def random_read(self):
        raise NotOffered("it reads tars from front to back")

    def dataset(self):
        import pillow
        import webdataset
        return (webdataset.WebDataset(self.paths, shardshuffle=len(self.paths), empty_check=False)
                .shuffle(SHUFFLE_BUFFER).decode("pilrgb").to_tuple("jpg", "cls")
                .map_tuple(pillow.transform(self.job), as_it_is).batched(self.job.batch))

    def make_loader(self):
        import webdataset
        return webdataset.WebLoader(self.dataset(), batch_size=None, num_workers=self.job.workers,
                                    persistent_workers=self.job.workers > 0)


PEERS = [WebDatasetPeer]
