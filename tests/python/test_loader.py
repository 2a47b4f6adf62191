"""What comes out of a loader: samples, order, arrays, ranks."""
import os
import subprocess
import sys
import zlib

import numpy as np
import pytest
import torch

import imgpack
from loading import CROP, flat, loader, records_of, same_batches, with_damage


def test_an_epoch_is_the_whole_split(packed):
    data = imgpack.Dataset(packed)
    train = loader(data)
    assert train.samples == 18 and len(train) == 5
    for number in range(2):
        batches = list(train.batches())
        assert [(batch.epoch, batch.step, len(batch)) for batch in batches] == [
            (number, step, 4 if step < 4 else 2) for step in range(5)]
        records = flat(batch.records.tolist() for batch in batches)
        assert sorted(records) == list(range(18)) and records != list(range(18))
        assert flat(batch.labels.tolist() for batch in batches) == [data.label(record) for record in records]
        assert all(batch.mask.all() and batch.soft_labels is None and batch.skipped == 0 for batch in batches)
        assert not any(batch.datasets.any() for batch in batches)


def test_order_depends_on_seed_and_epoch_alone(packed):
    once = loader(packed)
    first, second = list(once), list(once)
    assert same_batches(loader(packed, threads=3, prefetch_batches=5), first)
    assert same_batches(loader(packed).epoch(1), second)
    assert not np.array_equal(first[0][0], second[0][0])
    other = next(iter(loader(packed, seed=8)))
    assert not np.array_equal(first[0][0], other[0])


def test_orders(packed):
    def order(**options):
        return flat(records_of(loader(packed, **options).batches()))

    assert order(shuffle=False) == order(shuffle="none") == list(range(18))
    assert order(shuffle=True) == order() == order(shuffle="full")
    blocks = order(shuffle="block", block_records=3, window_blocks=2)
    assert sorted(blocks) == list(range(18)) and blocks != list(range(18))
    assert order(split=None, records=[5, 3, 9], shuffle=False) == [5, 3, 9]
    assert sorted(order(split=None)) == list(range(24))


def test_weights(packed):
    data = imgpack.Dataset(packed)
    only_second = loader(data, class_weights=[0, 1, 0], samples_per_epoch=40)
    records = flat(records_of(only_second.batches()))
    assert len(records) == 40 and {data.label(record) for record in records} == {1}
    weights = np.zeros(18)
    weights[[2, 11]] = 0.5
    assert set(flat(records_of(loader(data, record_weights=weights).batches()))) == {2, 11}


def test_several_datasets(packed, images, tmp_path):
    imgpack.build(images / "val", tmp_path / "val.rec")
    shares = [imgpack.Share(packed, "train", proportion=3), imgpack.Share(tmp_path / "val.rec")]
    mixed = loader(shares, split=None, samples_per_epoch=4096, batch_size=512)
    datasets = np.concatenate([batch.datasets for batch in mixed.batches()])
    assert np.bincount(datasets).tolist() == [3072, 1024]
    even = loader([packed, tmp_path / "val.rec"], split=None, samples_per_epoch=4096, batch_size=512)
    assert np.bincount(np.concatenate([batch.datasets for batch in even.batches()])).tolist() == [2048, 2048]
    with pytest.raises(imgpack.InvalidArgumentError, match="records"):
        loader([packed, packed], split=None, records=[1])
    with pytest.raises(imgpack.InvalidArgumentError, match="split"):
        loader(shares, split="train")


@pytest.mark.parametrize("layout, strides", [("nchw", (3 * 12 * 16, 12 * 16, 16, 1)),
                                             ("channels_last", (3 * 12 * 16, 1, 48, 3))])
@pytest.mark.parametrize("dtype", ["uint8", "float32", "float16", "bfloat16"])
def test_tensors(packed, layout, strides, dtype):
    options = dict(transform=[imgpack.Resize((12, 16))], shuffle=False)
    reference, labels = next(iter(loader(packed, **options)))
    options.update(dtype=getattr(torch, dtype), layout=layout, output="torch")
    images, same_labels = next(iter(loader(packed, **options)))
    assert images.dtype == options["dtype"] and images.shape == (4, 3, 12, 16) and images.stride() == strides
    channels_last = layout == "channels_last"
    assert images.is_contiguous(memory_format=torch.channels_last if channels_last else torch.contiguous_format)
    expected = torch.from_numpy(reference)
    expected = expected if dtype == "uint8" else (expected.float() / 255).to(images.dtype)
    assert torch.equal(images, expected) and torch.equal(same_labels, torch.from_numpy(labels))


@pytest.mark.parametrize("dtype", ["uint8", np.float32, np.dtype("float16")])
def test_arrays(packed, dtype):
    images, labels = next(iter(loader(packed, dtype=dtype)))
    assert images.dtype == np.dtype(dtype) and images.flags.writeable and labels.dtype == np.int64
    with pytest.raises(imgpack.UnsupportedError, match="NumPy has no bfloat16"):
        loader(packed, dtype="bfloat16")


def test_normalize(packed):
    options = dict(transform=[imgpack.Resize((12, 16)), imgpack.Normalize.imagenet()], shuffle=False)
    images, _ = next(iter(loader(packed, **options, dtype="float32")))
    plain, _ = next(iter(loader(packed, **{**options, "transform": options["transform"][:1]})))
    mean, std = np.array([0.485, 0.456, 0.406]), np.array([0.229, 0.224, 0.225])
    np.testing.assert_allclose(images, (plain / 255 - mean[:, None, None]) / std[:, None, None], atol=1e-5)


@pytest.mark.parametrize("output", ["torch", "numpy"])
def test_batches_that_are_kept_stay_as_they_are(packed, output):
    train, again = loader(packed, output=output), loader(packed, output=output)
    kept = [images for _ in range(8) for images, _ in train]
    del train
    fresh = (images for _ in range(8) for images, _ in again)
    assert len(kept) == 40 and all((images == expected).all() for images, expected in zip(kept, fresh))


def test_arrays_share_their_batch(packed):
    batch = next(loader(packed, output="torch").batches())
    batch.images[0, 0, 0, 0] = 99 if batch.images[0, 0, 0, 0] != 99 else 98
    changed = int(batch.images[0, 0, 0, 0])
    array = batch.images.numpy()
    del batch
    assert array[0, 0, 0, 0] == changed in (98, 99)


def test_extras(packed):
    options = dict(with_indices=True, with_mask=True, last_batch="pad", output="torch")
    *_, (images, labels, records, mask) = loader(packed, **options)
    assert len(images) == len(labels) == len(records) == 4
    assert records.dtype == torch.int64 and mask.tolist() == [True, True, False, False]
    assert len(next(iter(loader(packed, with_indices=True)))) == len(next(iter(loader(packed, with_mask=True)))) == 3


@pytest.mark.parametrize("step", [imgpack.MixUp(), imgpack.CutMix()])
def test_soft_labels(packed, step):
    images, targets = next(iter(loader(packed, transform=CROP + [step], output="torch", dtype="float32")))
    assert targets.shape == (4, 3) and targets.dtype == torch.float32
    torch.testing.assert_close(targets.sum(1), torch.ones(4))
    batch = next(loader(packed, transform=CROP + [step], classes=10).batches())
    assert batch.soft_labels.shape == batch.targets.shape == (4, 10) and batch.labels.shape == (4,)


def test_ranks_share_each_batch(packed):
    together = records_of(loader(packed, batch_size=6).batches())
    parts = [records_of(loader(packed, batch_size=2, rank=rank, world_size=3).batches()) for rank in range(3)]
    assert [flat(batch) for batch in zip(*parts)] == together
    parts = [records_of(loader(packed, batch_size=0, global_batch_size=6, rank=rank, world_size=2).batches())
             for rank in range(2)]
    assert [flat(batch) for batch in zip(*parts)] == together
    with pytest.raises(imgpack.InvalidArgumentError, match="belong together"):
        loader(packed, rank=1)
    with pytest.raises(imgpack.InvalidArgumentError, match="rank 3 of 3"):
        loader(packed, rank=3, world_size=3)


def test_last_batch(packed):
    assert [len(images) for images, _ in loader(packed, drop_last=True)] == [4] * 4
    assert len(loader(packed, last_batch="drop")) == 4
    assert [len(images) for images, _ in loader(packed, last_batch="pad")] == [4] * 5
    with pytest.raises(imgpack.InvalidArgumentError, match="contradicts"):
        loader(packed, drop_last=True, last_batch="pad")


def test_rank_of_torch_distributed(packed, monkeypatch):
    distributed = type(sys)("torch.distributed")
    distributed.is_available = distributed.is_initialized = lambda: True
    distributed.get_rank, distributed.get_world_size = lambda: 1, lambda: 3
    monkeypatch.setattr(torch, "distributed", distributed)
    expected = records_of(loader(packed, rank=1, world_size=3).batches())
    assert records_of(loader(packed).batches()) == expected
    distributed.is_initialized = lambda: False
    assert records_of(loader(packed).batches()) != expected


def test_damage(packed, tmp_path):
    path = with_damage(packed, tmp_path / "damaged.rec", 9)
    seen = []
    epoch = loader(path, shuffle=False).batches()
    with pytest.raises(imgpack.DamagedError, match="record 9") as caught:
        for batch in epoch:
            seen.append(batch.records.tolist())
    assert seen == [[0, 1, 2, 3], [4, 5, 6, 7]] and caught.value.record == 9 and caught.value.file == str(path)
    assert list(epoch) == []
    skipping = loader(path, shuffle=False, on_damage="skip")
    masks = [(batch.mask.tolist(), batch.skipped) for batch in skipping.batches()]
    assert masks[2] == ([True, False, True, True], 1) and len(masks) == 5
    damage, = skipping.damage()
    assert damage.record == 9 and damage.file == str(path) and damage.what
    assert skipping.stats()["damaged"] == 1


def test_stats(packed):
    train = loader(packed, threads=1)
    for _ in train:
        pass
    stats = train.stats()
    assert stats["batches"] == 5 and stats["samples"] == 18 and stats["threads"] == 1
    assert stats["bytes_read"] > 0 and stats["decode_seconds"] > 0 and stats["read_ahead"] is False


def test_arguments(packed):
    assert "18 samples, 5 batches" in repr(loader(packed))
    assert len(imgpack.Loader(os.fspath(packed), transform=CROP)) == 1
    for options, match in (({"device": "gpu"}, "no device 'gpu'"), ({"split": "test"}, "train, val"),
                           ({"dtype": "int8"}, "'uint8', 'float32'"), ({"layout": "chw"}, "'nchw'"),
                           ({"shuffle": "yes"}, "'full', 'block', 'none'"), ({"last_batch": "keep"}, "'partial'"),
                           ({"output": "jax"}, "'torch'"), ({"on_damage": "ignore"}, "'stop' or 'skip'"),
                           ({"read": "fast"}, "'mapped'"), ({"records": [24], "split": None}, "24")):
        with pytest.raises(imgpack.Error, match=match):
            loader(packed, **options)
    with pytest.raises(TypeError, match="batch_size can't be 2.5"):
        loader(packed, batch_size=2.5)
    with pytest.raises(TypeError, match="batchsize"):
        loader(packed, batchsize=2)
    with pytest.raises(imgpack.InvalidArgumentError):  # images of different sizes, and no step to make them equal
        list(loader(packed, transform=[]))


def test_device_arguments(packed):
    train = loader(packed)
    next(iter(train))
    stats = train.stats()
    assert stats["device"] == "cpu" and stats["transport"] == "" and stats["device_samples"] == 0
    assert stats["host_samples"] >= 4 and stats["device_seconds"] == 0
    for options, match in (({"transport": "pinned"}, "of CUDA devices"), ({"transport": "fast"}, "'zero_copy'"),
                           ({"decode_device": "cuda:1"}, "can't make batches for cpu")):
        with pytest.raises(imgpack.InvalidArgumentError, match=match):
            loader(packed, **options)
    with pytest.raises(imgpack.UnsupportedError, match="output='torch'"):
        loader(packed, device=torch.device("cuda", 0), output="numpy")
    if not torch.cuda.is_available():
        with pytest.raises(imgpack.UnsupportedError, match="torch .* has no CUDA"):
            loader(packed, device="cuda", output="torch")
    with pytest.raises(imgpack.UnsupportedError):  # by the library: not in its build, or not in the machine
        loader(packed, device="cuda:999", output="dlpack")


def test_dlpack_for_others(packed):
    expected = list(loader(packed, output="numpy").batches())
    for batch, other in zip(expected, loader(packed, output="dlpack").batches()):
        assert other.images.__dlpack_device__() == (1, 0) and other.device == "cpu"
        other.use_on(0)  # of no meaning here
        assert np.array_equal(np.from_dlpack(other.images), batch.images)
        assert np.array_equal(np.from_dlpack(other.labels), batch.labels)
        assert np.array_equal(np.from_dlpack(other.mask), batch.mask)


@pytest.mark.parametrize("epoch", [0, 3])
def test_batches_are_those_of_cpp(packed, epoch):
    loader = imgpack.Loader(packed, split="train", batch_size=8, seed=5, transform=[
        imgpack.RandomResizedCrop(32), imgpack.HorizontalFlip(), imgpack.ColorJitter(0.4, 0.4, 0.4, 0.1),
        imgpack.Normalize.imagenet()], output="numpy")
    lines = [f"{','.join(map(str, batch.records))} {zlib.crc32(batch.images.tobytes()):08x}"
             for batch in loader.batches(epoch)]
    printed = subprocess.run([os.environ["IMGPACK_LOADER_PRINT"], packed, "train", str(epoch)], check=True,
                             capture_output=True, text=True).stdout
    assert printed.split("\n")[:-1] == lines


@pytest.mark.parametrize("records", [[], [True, False], [0.5], [-1], [[1, 2]]])
def test_records_that_are_none(packed, records):
    with pytest.raises(ValueError):
        loader(packed, split=None, records=records)
    with pytest.raises(ValueError):
        loader(packed, class_weights=[])


def test_either_way_of_mixing(packed):
    mixed = loader(packed, dtype="float32", transform=CROP + [imgpack.MixUp(), imgpack.CutMix()])
    for _, targets in mixed:
        np.testing.assert_allclose(targets.sum(axis=1), 1, rtol=1e-6)

