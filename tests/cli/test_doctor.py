"""doctor: its verdict where the bound is known because the test has made it, its document, and its errors."""
import os
import shlex
import shutil
from pathlib import Path

import numpy
import pytest
from PIL import Image

from imgpack_cli import COMMAND, imgpack, imgpack_json

SLOW_READS = os.environ["IMGPACK_SLOW_READS_LIBRARY"]
SECONDS = "0.05"
SHORT = ["--rounds", "2", "--crop", "64", "--batch", "8", "--threads", "1"]
STAGES = ["disk", "memory", "entropy", "cpu", "gpu", "copy", "pinned", "consumer"]


@pytest.fixture(scope="module")
def folder():
    """Beside the built command: temporary files may lie in memory."""
    folder = Path(COMMAND).parent / "test_doctor"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def small(folder, images):
    imgpack("build", images, folder / "small.rec")
    return folder / "small.rec"


@pytest.fixture(scope="module")
def large(folder):
    """Images of two megapixels, of noise: each takes the CPU long."""
    random = numpy.random.default_rng(1)
    (folder / "large" / "noise").mkdir(parents=True)
    for number in range(8):
        pixels = random.integers(0, 256, (1200, 1600, 3), numpy.uint8)
        Image.fromarray(pixels).save(folder / "large" / "noise" / f"{number}.jpg", quality=90)
    imgpack("build", folder / "large", folder / "large.rec")
    return folder / "large.rec"


def examine(*arguments, **options):
    length = [] if "--seconds" in arguments else ["--seconds", SECONDS]
    return imgpack_json("doctor", *SHORT, *length, "--no-variants", *arguments, **options)


def bound_of(document):
    verdict = document["verdict"]
    assert verdict["clear"], verdict
    return verdict["bound"]


# Constructed cases

def test_a_slow_disk(small):
    environment = {**os.environ, "LD_PRELOAD": SLOW_READS, "IMGPACK_SLOW_READS": "400000",
                   "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"}
    document = examine(small, "--cold", "--seconds", "0.3", env=environment)
    assert document["disk_counts"] is True, "the build folder has to lie on a disk"
    assert bound_of(document) == "disk"
    assert document["verdict"]["sentence"].startswith("Reading from disk is the bound")
    stage = next(stage for stage in document["stages"] if stage["stage"] == "disk")
    assert stage["passed"] is True
    assert stage["images_per_second"]["median"] * stage["bytes_per_image"] < 600_000
    # The same file, not slowed down: the disk is not the bound.
    assert bound_of(examine(small, "--step-ms", "500", "--cold")) == "consumer"


def test_a_disk_does_not_count_if_memory_has_room(small):
    document = examine(small, "--step-ms", "100")
    assert document["disk_counts"] is False
    assert not next(stage for stage in document["stages"] if stage["stage"] == "disk")["passed"]


def test_a_starved_cpu(large):
    document = examine(large, "--seconds", "0.3", "--step-ms", "1", "--copy-rate", "1TB")  # others that could be it
    assert sum(stage["passed"] and stage["images_per_second"] is not None for stage in document["stages"]) == 3
    assert bound_of(document) == "cpu"
    assert document["verdict"]["sentence"].startswith("Decoding on the CPU is the bound")
    rates = {stage["stage"]: stage["images_per_second"]["median"] for stage in document["stages"]
             if stage["images_per_second"]}
    assert rates["cpu"] < rates["memory"]
    assert document["threads"]["enough"] >= 1


def test_a_slow_consumer(small):
    document = examine(small, "--step-ms", "200")
    assert bound_of(document) == "consumer"
    assert document["verdict"]["images_per_second"] == pytest.approx(8 / 0.2)
    assert document["verdict"]["command"] is None
    assert document["together"]["images_per_second"]["median"] <= 8 / 0.2 * 1.01
    assert document["together"]["consumer_busy"] > 0.5


def test_a_slow_copy(small):
    document = examine(small, "--copy-rate", "1MB")
    assert bound_of(document) == "copy"
    assert document["verdict"]["images_per_second"] == pytest.approx(1e6 / (64 * 64 * 3 * 4))
    assert 'dtype="uint8"' in document["verdict"]["command"]


# The rest

def test_the_document(large):
    document = imgpack_json("doctor", *SHORT, "--seconds", SECONDS, large, "--target", "1")
    assert [stage["stage"] for stage in document["stages"]] == STAGES
    for stage in document["stages"]:
        assert (stage["images_per_second"] is None) == (stage["reason"] is not None), stage
    assert document["images"] == 8 and document["batch_size"] == 8 and document["rounds"] == 2
    sweep = document["threads"]["sweep"]
    assert [point["threads"] for point in sweep] == sorted({point["threads"] for point in sweep})
    assert document["threads"]["enough"] in [point["threads"] for point in sweep]
    assert [variant["options"] for variant in document["variants"]][0] == ""
    assert document["variants_reason"] is None
    raw = document["variants"][-1]
    assert raw["bytes_per_image"] == 256 * 256 * 3
    assert raw["images_per_second"]["median"] > document["variants"][0]["images_per_second"]["median"]
    # So large images are decoded so slowly that small ones must be the advice.
    assert any(way in document["verdict"]["command"] for way in ("imgpack convert", "threads=", 'device="cuda"'))
    assert document["target"]["reached"] is True and document["target"]["remedy"] is None


def test_a_copy_of_images_as_they_are(small, folder):
    """Its rate goes by their own size, and not by that of a crop that is not made."""
    imgpack("convert", small, folder / "raw.rec", "--encode", "raw", "--resize", "40", "--resize-mode", "center-crop",
            "--upscale")
    document = examine(folder / "raw.rec", "--transform", "none", "--dtype", "uint8", "--copy-rate", "1MB")
    stages = {stage["stage"]: stage for stage in document["stages"]}
    assert stages["copy"]["bytes_per_image"] == 40 * 40 * 3
    assert document["verdict"]["command"] is None or "uint8" not in document["verdict"]["command"]


def test_a_target_that_nothing_reaches(small):
    target = examine(small, "--step-ms", "100", "--target", "1000000")["target"]
    assert target["reached"] is False and target["remedy"] is None
    assert "the consumer itself takes 80 images/s" in target["sentence"]


def test_the_advised_commands_run(large, folder):
    names = folder / "a shell's names"
    names.mkdir()
    shutil.copy(large, names / "of noise.rec")
    remedies = imgpack_json("doctor", *SHORT, "--seconds", SECONDS, names / "of noise.rec")["verdict"]["remedies"]
    commands = [remedy["command"] for remedy in remedies if remedy["command"].startswith("imgpack convert ")]
    assert commands
    for command in commands:
        _, *arguments = shlex.split(command)
        imgpack(*arguments, cwd=names)
        (names / "packed.rec").unlink()


def test_a_consumer_that_a_command_tells(small):
    document = examine(small, "--step-command", "echo warming up; echo 40")
    assert document["step_ms"] == pytest.approx(8 / 40 * 1e3)
    assert bound_of(document) == "consumer"


def test_text(small):
    text = imgpack("doctor", *SHORT, "--seconds", SECONDS, "--no-variants", small, "--step-ms", "100").out.decode()
    for stage in [*STAGES, "together"]:
        assert f"\n{stage} " in text
    assert "The consumer is the bound: it takes 80 images/s" in text
    assert imgpack("doctor", *SHORT, "--seconds", SECONDS, "--no-variants", small, "--quiet").out == b""


def test_errors(small, folder):
    imgpack("doctor", code=2)
    imgpack("doctor", folder / "missing.rec", code=2)
    imgpack("doctor", small, "--step-ms", "1", "--step-command", "echo 1", code=2)
    for command in ("false", "echo nothing", "true", "echo -5", "echo inf", "echo 1e-9"):
        assert "--step-command" in imgpack("doctor", *SHORT, small, "--step-command", command, code=2).err
    imgpack("doctor", small, "--rounds", "0", code=2)
    imgpack("doctor", small, "--target", "0", code=2)
    imgpack("doctor", *SHORT, small, "--split", "nowhere", code=2)
    imgpack("doctor", *SHORT, "--seconds", "0.01", small, "--device", "cuda:999", code=3)


def test_a_damaged_record_is_named(small, folder):
    damaged = folder / "damaged.rec"
    data = bytearray(small.read_bytes())
    first = data.index(b"\xff\xd8\xff")
    data[first + 600:first + 900] = bytes(300)
    damaged.write_bytes(data)
    result = imgpack("doctor", *SHORT, "--no-variants", damaged, code=1)
    assert "damaged.rec" in result.err
