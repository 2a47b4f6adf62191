"""The Python loader on a GPU. Needs imgpack with CUDA, a torch with CUDA, IMGPACK_MAKE_IMAGES, and a GPU: fails without."""
import os
import pickle
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import torch

import imgpack

HERE = Path(__file__).resolve().parent
TRAINER = HERE.parents[1] / "examples" / "train.py"
CROP = [imgpack.RandomResizedCrop(32), imgpack.HorizontalFlip(), imgpack.ColorJitter(0.4, 0.4, 0.4, 0.1)]
INTEGERS = {torch.float16: torch.int16, torch.bfloat16: torch.int16, torch.float32: torch.int32}


@pytest.fixture(scope="session")
def packed(tmp_path_factory):
    """Three classes, 51 images in train and 15 in val."""
    folder = tmp_path_factory.mktemp("packed")
    subprocess.run([os.environ["IMGPACK_MAKE_IMAGES"], folder / "images", "3", "17"], check=True)
    imgpack.build(folder / "images", folder / "images.rec")
    return folder / "images.rec"


def loader(packed, **options):
    return imgpack.Loader(packed, **{"split": "train", "batch_size": 8, "seed": 7, "transform": CROP, "dtype": "uint8",
                                     "device": "cuda", **options})


def bits(tensor):
    """The same values as integers: a NaN, or a zero's sign, compares as it is."""
    return tensor.view(INTEGERS[tensor.dtype]) if tensor.dtype in INTEGERS else tensor


def check_same(on_gpu, on_cpu):
    on_gpu, on_cpu = list(on_gpu), list(on_cpu)
    assert len(on_gpu) == len(on_cpu)
    for ours, theirs in zip(on_gpu, on_cpu):
        assert len(ours) == len(theirs)
        for tensor, other in zip(ours, theirs):
            assert tensor.dtype == other.dtype and tensor.shape == other.shape and tensor.stride() == other.stride()
            assert torch.equal(bits(tensor.cpu()), bits(other))


@pytest.mark.parametrize("layout", ["nchw", "channels_last"])
@pytest.mark.parametrize("dtype", ["uint8", "float32", "float16", "bfloat16"])
def test_batches_are_those_of_the_cpu(packed, dtype, layout):
    options = dict(dtype=dtype, layout=layout, with_indices=True, with_mask=True, last_batch="pad",
                   transform=CROP + ([] if dtype == "uint8" else [imgpack.Normalize.imagenet()]))
    train = loader(packed, **options)
    for images, labels, records, mask in train:
        assert images.device == labels.device == mask.device == torch.device("cuda", torch.cuda.current_device())
        assert records.device.type == "cpu" and mask.dtype == torch.bool
    check_same(train.epoch(2), loader(packed, device="cpu", output="torch", **options).epoch(2))
    stats = train.stats()
    assert stats["device"] == f"cuda:{torch.cuda.current_device()}" and stats["transport"]
    assert stats["device_samples"] >= 51 and stats["device_seconds"] > 0


@pytest.mark.parametrize("mixing", [imgpack.MixUp(), imgpack.CutMix()])
def test_mixing(packed, mixing):
    train = loader(packed, dtype="float32", transform=CROP + [mixing])
    check_same(train, loader(packed, device="cpu", dtype="float32", transform=CROP + [mixing]))
    assert next(iter(train))[1].shape == (8, 3)


@pytest.mark.parametrize("transport", ["zero_copy", "pinned"])
def test_transports(packed, transport):
    train = loader(packed, transport=transport, device_memory=64 << 20)
    check_same(train, loader(packed, device="cpu"))
    assert transport in train.stats()["transport"]


def test_order_and_resume(packed):
    whole = [batch.records.tolist() for batch in loader(packed).batches()]
    assert sorted(sum(whole, [])) == list(range(51))
    train = loader(packed)
    epoch = train.batches()
    for step in range(3):
        batch = next(epoch)
        assert batch.records.tolist() == whole[step]
    state = batch.state_dict()
    for device in ("cuda", "cpu"):
        again = loader(packed, device=device)
        again.load_state_dict(state)
        assert [batch.records.tolist() for batch in again.batches()] == whole[3:]
    moved = pickle.loads(pickle.dumps(train))
    assert next(moved.batches()).device == batch.device


def test_batches_may_be_kept_and_epochs_left(packed):
    train = loader(packed)
    kept = [images for number in range(3) for images, _ in train.epoch(number)]
    for number in range(10):
        for step, _ in enumerate(train.epoch(number)):
            if step == number % 3:
                break
    with pytest.raises(ZeroDivisionError):
        for images, _ in train:
            1 / 0
    del train
    expected = loader(packed, device="cpu", output="torch")
    for ours, theirs in zip(kept, [images for number in range(3) for images, _ in expected.epoch(number)]):
        assert torch.equal(ours.cpu(), theirs)
    check_same(loader(packed).epoch(4), loader(packed, device="cpu").epoch(4))  # a second loader


def test_streams_that_lag_behind(packed):
    """Tensors are gone on the host long before the stream has read them."""
    side = torch.cuda.Stream()
    copies, others = [], []
    with torch.cuda.stream(side):
        for number in range(4):
            for images, _ in loader(packed, prefetch_batches=2).epoch(number):
                torch.cuda._sleep(20_000_000)
                copies.append(images.clone())
                del images
    train = loader(packed, prefetch_batches=2)
    for number in range(4):
        for batch in train.batches(number):
            batch.use_on(side)
            images = batch.images
            with torch.cuda.stream(side):
                torch.cuda._sleep(20_000_000)
                others.append(images.clone())
            del images, batch
    torch.cuda.synchronize()
    expected = loader(packed, device="cpu", output="torch")
    expected = [images for number in range(4) for images, _ in expected.epoch(number)]
    assert len(copies) == len(others) == len(expected)
    for ours, more, theirs in zip(copies, others, expected):
        assert torch.equal(ours.cpu(), theirs) and torch.equal(more.cpu(), theirs)


@pytest.mark.parametrize("transport", ["auto", "pinned"])
def test_cuda_graphs(packed, transport):
    train = loader(packed, dtype="float32", last_batch="drop", transport=transport)
    static = torch.zeros(8, 3, 32, 32, device="cuda")
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        (static * 2).sum((1, 2, 3))  # warm-up
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    epoch = iter(train)
    first, _ = next(epoch)
    with torch.cuda.graph(graph):  # while the loader works
        sums = (static * 2).sum((1, 2, 3))
    seen = []
    for images in [first] + [images for images, _ in epoch]:
        static.copy_(images)
        graph.replay()
        seen.append(sums.clone())
    expected = [images for images, _ in loader(packed, device="cpu", dtype="float32", last_batch="drop")]
    for ours, images in zip(seen, expected):
        torch.testing.assert_close(ours.cpu(), (images * 2).sum((1, 2, 3)), rtol=1e-4, atol=1e-2)


def test_out_of_memory(packed):
    with pytest.raises(imgpack.Error) as caught:
        for _ in loader(packed, batch_size=1 << 24, transform=[imgpack.RandomResizedCrop(512)]):
            pass
    assert caught.value.code == "out_of_memory"
    check_same(loader(packed), loader(packed, device="cpu"))


def test_fork(packed):
    train = loader(packed)
    epoch = iter(train)
    next(epoch)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            next(epoch)
        except imgpack.UnsupportedError as error:
            code = 0 if "spawn" in str(error) else 2
        finally:
            os._exit(code)
    assert os.waitpid(child, 0)[1] == 0
    assert len(list(epoch)) == 6


def test_devices(packed):
    """With one GPU it is both the first and the last."""
    last = torch.cuda.device_count() - 1
    expected = list(loader(packed, device="cpu", output="torch"))
    first, second = loader(packed, device="cuda:0"), loader(packed, device=torch.device("cuda", last))
    across = loader(packed, device="cuda:0", decode_device=f"cuda:{last}")
    for ours, theirs, both, wanted in zip(first, second, across, expected):
        assert ours[0].device.index == both[0].device.index == 0 and theirs[0].device.index == last
        for batch in (ours, theirs, both):
            assert torch.equal(batch[0].cpu(), wanted[0]) and torch.equal(batch[1].cpu(), wanted[1])
    with torch.cuda.device(last):
        assert next(loader(packed).batches()).device == f"cuda:{last}"
    with pytest.raises(imgpack.UnsupportedError):
        loader(packed, device=f"cuda:{last + 1}")


def test_dlpack_for_others(packed):
    expected = loader(packed, device="cpu", output="torch").batches()
    for batch, other in zip(loader(packed, output="dlpack").batches(), expected):
        assert batch.images.__dlpack_device__() == (2, torch.cuda.current_device())
        assert torch.equal(torch.from_dlpack(batch.images).cpu(), other.images)
        assert torch.equal(torch.from_dlpack(batch.mask).cpu().bool(), other.mask)
    with pytest.raises(imgpack.UnsupportedError, match="NumPy"):
        loader(packed, output="numpy")


def test_ranks_with_nccl(packed):
    """On as many GPUs as there are, two at most: DistributedDataParallel, and every image once."""
    ranks = min(torch.cuda.device_count(), 2)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    processes = [subprocess.Popen(
        [sys.executable, HERE / "ddp_rank.py", packed], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(ranks),
             "LOCAL_WORLD_SIZE": str(ranks), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)})
        for rank in range(ranks)]
    try:
        printed = [process.communicate(timeout=240) for process in processes]
    finally:
        for process in processes:
            process.kill()
    assert all(process.returncode == 0 for process in processes), printed
    lines = [out.split("\n") for out, _ in printed]
    records = [int(number) for first in lines for number in first[0].split()]
    assert sorted(records) == list(range(51))
    assert len({first[1] for first in lines}) == 1  # the same weights on all ranks


@pytest.mark.parametrize("options", [[], ["--loader-device", "cpu"]])
def test_the_trainer(packed, options):
    printed = subprocess.run([sys.executable, TRAINER, packed, "--device", "cuda", "--autocast", "--epochs", "1", "--size",
                              "64", "--batch-size", "16", *options], capture_output=True, text=True, timeout=240)
    assert printed.returncode == 0 and "epoch 1/1: loss " in printed.stdout, printed
