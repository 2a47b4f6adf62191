"""What the tests of the loader share."""
import numpy as np

import imgpack

CROP = [imgpack.RandomResizedCrop(16), imgpack.HorizontalFlip()]


def loader(data, **options):
    return imgpack.Loader(data, **{"split": "train", "batch_size": 4, "seed": 7, "transform": CROP, "dtype": "uint8",
                                   "output": "numpy", **options})


def records_of(epoch):
    """The records of each batch of an iterator of Batch, without padding."""
    return [batch.records[batch.mask].tolist() for batch in epoch]


def flat(lists):
    return [value for values in lists for value in values]


def same_batches(first, second):
    """Whether two iterators of tuples of arrays give the same."""
    first, second = list(first), list(second)
    assert len(first) == len(second)
    for ours, theirs in zip(first, second):
        for array, other in zip(ours, theirs):
            np.testing.assert_array_equal(array, other)
    return True


def with_damage(packed, path, record):
    """A copy of the packed file at `path`, in which one record can't be decoded."""
    content = bytearray(packed.read_bytes())
    where = content.index(imgpack.Dataset(packed).payload(record))
    content[where:where + 200] = bytes(200)
    path.write_bytes(content)
    return path
