"""The C++ trainer, imgpack_train, as a user runs it."""
import os
import signal
import subprocess

import pytest
import torch
import torchvision
from torchvision import transforms

from coloured_images import CLASSES, TRAIN, VAL, make_images
from epoch_lines import epoch_lines, majority

COMMAND, TRAIN_COMMAND = (os.path.abspath(os.environ[name]) for name in ("IMGPACK_COMMAND", "IMGPACK_TRAIN"))
SIZE = 64
SMALL = ["--size", SIZE, "--width", 0.35, "--batch-size", 16, "--lr", 0.015, "--threads", 2]
# One thread for libtorch: sums over several have no fixed order.
ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1"}


def train(*arguments, code=0, timeout=240):
    """Runs the trainer and checks its exit code; gives what it printed, and on failure what it complained of."""
    done = subprocess.run([TRAIN_COMMAND, *map(str, arguments)], capture_output=True, text=True, timeout=timeout,
                          env=ENVIRONMENT)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout if code == 0 else done.stderr


def pack(source, file, *options):
    subprocess.run([COMMAND, "build", source, file, *options], check=True, stdout=subprocess.DEVNULL)
    return file


@pytest.fixture(scope="module")
def images(tmp_path_factory):
    return make_images(tmp_path_factory.mktemp("images"))


@pytest.fixture(scope="module")
def packed(images, tmp_path_factory):
    return pack(images, tmp_path_factory.mktemp("packed") / "images.rec")


def tensors(checkpoint):
    """All weights, statistics and momenta of a checkpoint, in order."""
    archive = torch.jit.load(str(checkpoint))
    group = getattr(archive.optimizer.param_groups, "param_groups/0")
    keys = [getattr(group, f"params/{i}") for i in range(int(getattr(group, "params/size")))]
    momenta = [getattr(archive.optimizer.state, key).momentum_buffer for key in keys]
    return list(archive.model.state_dict().values()) + momenta


@pytest.fixture(scope="module")
def learned(packed, tmp_path_factory):
    checkpoint = tmp_path_factory.mktemp("learned") / "run.ckpt"
    return train(packed, *SMALL, "--epochs", 10, "--seed", 1, "--schedule", "one-cycle", "--label-smoothing", 0.1,
                 "--checkpoint", checkpoint), checkpoint


def test_it_learns(learned):
    printed, _ = learned
    lines = epoch_lines(printed)
    assert [(line.number, line.of) for line in lines] == [(number, 10) for number in range(1, 11)]
    assert lines[-1].loss < 0.7 * lines[0].loss
    assert majority(printed) == 100 / len(CLASSES)
    assert lines[-1].top1 > 60


def test_its_network_and_its_top1_are_torchvisions(learned, images):
    """36 images of val in batches of 16: padding must not count."""
    printed, checkpoint = learned
    model = torchvision.models.mobilenet_v2(num_classes=len(CLASSES), width_mult=0.35)
    weights = torch.jit.load(str(checkpoint)).model.state_dict()
    model.load_state_dict(weights, strict=True)
    model.eval()
    val = torchvision.datasets.ImageFolder(images / "val", transforms.Compose([
        transforms.Resize(SIZE * 8 // 7), transforms.CenterCrop(SIZE), transforms.ToTensor(),
        transforms.Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))]))
    assert len(val) == VAL * len(CLASSES)
    with torch.no_grad():
        right = sum(int(model(image[None]).argmax()) == label for image, label in val)
    assert f"{100 * right / len(val):.1f}" == f"{epoch_lines(printed)[-1].top1:.1f}"


@pytest.mark.parametrize("schedule", ["cosine", "one-cycle"])
def test_a_stop_in_an_epoch_changes_nothing(packed, tmp_path, schedule):
    options = [packed, *SMALL, "--epochs", 2, "--seed", 3, "--schedule", schedule, "--checkpoint"]
    whole = train(*options, tmp_path / "whole.ckpt")
    stopped = train(*options, tmp_path / "parts.ckpt", "--stop-after", 2)
    assert "stopped" in stopped and not epoch_lines(stopped)
    resumed = train(*options, tmp_path / "parts.ckpt", "--resume", "--stop-after", 6)  # across an epoch's end
    assert f"going on in epoch 1, after 32 of its {TRAIN * len(CLASSES)} images" in resumed
    resumed += train(*options, tmp_path / "parts.ckpt", "--resume")
    assert epoch_lines(resumed) == epoch_lines(whole) and len(epoch_lines(whole)) == 2
    expected, found = tensors(tmp_path / "whole.ckpt"), tensors(tmp_path / "parts.ckpt")
    assert len(expected) == len(found) == (6 * 52 + 2) + (3 * 52 + 2)  # 52 convolutions with batch norm, a linear layer; momenta
    assert all(map(torch.equal, found, expected))
    assert "going on in epoch 3" in train(*options, tmp_path / "parts.ckpt", "--resume")  # nothing is left to do


def test_another_seed_is_another_run(packed):
    first, second = (train(packed, *SMALL, "--epochs", 1, "--seed", seed) for seed in (3, 4))
    assert epoch_lines(first) != epoch_lines(second)


def test_a_signal_ends_it_with_a_checkpoint(packed, tmp_path):
    arguments = [packed, *SMALL, "--epochs", 1000, "--checkpoint", tmp_path / "run.ckpt"]
    process = subprocess.Popen([TRAIN_COMMAND, *map(str, arguments)], stdout=subprocess.PIPE, text=True, env=ENVIRONMENT)
    try:
        while not process.stdout.readline().startswith("epoch 1/1000"):
            assert process.poll() is None
        process.send_signal(signal.SIGTERM)
        printed, _ = process.communicate(timeout=120)
    finally:
        process.kill()
    assert process.returncode == 0 and "--resume goes on" in printed
    assert "going on in epoch" in train(*arguments, "--resume", "--stop-after", 1)


def test_formats_are_alike(packed, images, tmp_path):
    options = [*SMALL, "--epochs", 1]
    expected = epoch_lines(train(packed, *options))
    assert epoch_lines(train(pack(images, tmp_path / "images.lmdb"), *options)) == expected
    pack(images, tmp_path / "shards.rec", "--shards", "3")
    assert epoch_lines(train(tmp_path / "shards.rec", *options)) == expected


def test_errors(packed, images, tmp_path):
    assert "nothing.rec" in train(tmp_path / "nothing.rec", code=1)
    assert "--epochs" in train(packed, "--epochs", 0, code=2)
    assert "--device" in train(packed, "--device", "cuda:x", code=2)
    assert "--loader-device" in train(packed, "--loader-device", "gpu", code=2)
    assert "--checkpoint" in train(packed, "--resume", code=2)
    if not torch.cuda.is_available():
        assert "sees no CUDA device" in train(packed, "--device", "cuda", code=1)
    assert "batch, 97" in train(packed, "--batch-size", 97, code=1)
    assert "there is no split" in train(pack(images / "val", tmp_path / "flat.rec"), code=1)


def test_autocast(packed):
    options = [packed, *SMALL, "--epochs", 1, "--autocast"]
    if int(torch.__version__.split(".")[0]) < 2:  # Debian's, whose libtorch both are linked with
        assert "--autocast: libtorch 1." in train(*options, code=1)
    else:
        line, = epoch_lines(train(*options))
        assert 0 < line.loss < 3


def test_checkpoints_that_do_not_fit(packed, learned, tmp_path):
    _, checkpoint = learned
    options = ["--checkpoint", checkpoint, "--resume"]
    assert "width 0.35 with 4 classes" in train(packed, *options, "--width", 0.5, code=1)
    assert "no such checkpoint" in train(packed, "--checkpoint", tmp_path / "none.ckpt", "--resume", code=1)
    (tmp_path / "odd.ckpt").write_bytes(b"nothing of the kind")
    assert "no checkpoint" in train(packed, "--checkpoint", tmp_path / "odd.ckpt", "--resume", code=1)
    other = pack(make_images(tmp_path / "other"), tmp_path / "other.rec", "--encode", "raw", "--resize", "40",
                 "--resize-mode", "center-crop", "--upscale")
    assert "another dataset" in train(other, *options, "--width", 0.35, code=1)
