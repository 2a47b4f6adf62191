import os
import signal
import threading
import time

import pytest
from PIL import Image

import imgpack


def test_build_reports(images, tmp_path):
    report = imgpack.build(images, tmp_path / "a.rec", metadata={"licence": "none"}, threads=2)
    assert report.outputs == [tmp_path / "a.rec"] and report.format == "rec" and report.source_kind == "splits"
    assert (report.records, report.entries, report.classes, report.refused_count) == (24, 24, 3, 0)
    assert [(split.name, split.end) for split in report.splits] == [("train", 18), ("val", 24)]
    assert report.decode_paths.indexed_jpeg == 24 and report.seconds > 0
    assert imgpack.info(tmp_path / "a.rec").metadata == {"licence": "none"}


def test_options_reach_the_library(images, tmp_path):
    imgpack.build(images, tmp_path / "a.rec", encode="raw", resize=16, resize_mode="center-crop", interpolation="box",
                  upscale=True, zstd_level=1, limit=6, shuffle_seed=3)
    data = imgpack.Dataset(tmp_path / "a.rec")
    assert len(data) == 6 and data.codec(0) == "raw_rgb8_zstd" and data.size(0) == (16, 16)
    assert data.info.transform["interpolation"] == "box" and data.info.transform["resize"] == "16"
    shards = imgpack.build(images, tmp_path / "b.rec", shards=2).outputs
    assert [path.name for path in shards] == ["b-00000-of-00002.rec", "b-00001-of-00002.rec"]
    assert len(imgpack.Dataset(tmp_path / "b.rec")) == 24


def test_dry_run_writes_nothing(images, tmp_path):
    report = imgpack.build(images, tmp_path / "a.rec", dry_run=True)
    assert report.entries == 24 and report.records == 0 and list(tmp_path.iterdir()) == []


def test_what_cannot_be_packed(tmp_path):
    folder = tmp_path / "images" / "a"
    folder.mkdir(parents=True)
    Image.new("RGB", (4, 4)).save(folder / "good.png")
    (folder / "bad.png").write_bytes(b"no image")
    with pytest.raises(imgpack.RefusedError, match="bad.png"):
        imgpack.build(tmp_path / "images", tmp_path / "a.rec")
    report = imgpack.build(tmp_path / "images", tmp_path / "a.rec", on_error="skip", overwrite=True)
    assert report.records == 1 and report.refused_count == 1
    assert report.left_out[0].key == "a/bad.png" and not report.left_out[0].ignored and report.left_out[0].reason


def test_convert_and_merge(packed, images, tmp_path):
    imgpack.convert(packed, tmp_path / "raw.rec", encode="raw")
    imgpack.convert(packed, tmp_path / "same.rec")
    assert imgpack.Dataset(tmp_path / "raw.rec").codec(0) == "raw_rgb8"
    assert imgpack.Dataset(tmp_path / "same.rec").fingerprint() == imgpack.Dataset(packed).fingerprint()
    for name in ("train", "val"):
        imgpack.build(images / name, tmp_path / f"{name}.rec")
    with pytest.raises(imgpack.RefusedError):  # both have n00000001/n00000001_0.JPEG
        imgpack.merge(tmp_path / "all.rec", [tmp_path / "train.rec", tmp_path / "val.rec"])
    imgpack.merge(tmp_path / "one.json", [packed])
    assert len(imgpack.Dataset(tmp_path / "one.json")) == 24


def test_verify(packed, images, tmp_path):
    report = imgpack.verify(packed, source=images, decode=True)
    assert report.good and report.records == 24 and report.damage == [] and report.source.compared == 24
    damaged = bytearray(packed.read_bytes())
    damaged[damaged.index(imgpack.Dataset(packed).payload(7)) + 30] ^= 1
    (tmp_path / "damaged.rec").write_bytes(damaged)
    report = imgpack.verify(tmp_path / "damaged.rec", source=images)
    assert not report.good and report.source is None and report.damage_count == 1
    finding = report.damage[0]
    assert finding.record == 7 and finding.file == str(tmp_path / "damaged.rec") and "checksum" in finding.what
    report = imgpack.verify(packed, source=images / "train")
    assert not report.good and report.damage_count == 0 and report.source.missing_count + report.source.extra_count > 0


def test_progress_is_called_here(packed, many_images, tmp_path):
    seen, threads = [], set()

    def progress(now):
        seen.append((now.stage, now.done, now.total, now.bytes))
        threads.add(threading.get_ident())

    imgpack.build(many_images, tmp_path / "a.rec", progress=progress)
    stage, done, total, bytes_ = seen[-1]
    assert stage == "finishing" and done == total == len(imgpack.Dataset(tmp_path / "a.rec"))
    assert bytes_ == imgpack.info(tmp_path / "a.rec").payload_bytes
    seen.clear()
    imgpack.verify(tmp_path / "a.rec", progress=progress)
    assert seen[-1][0] == "verifying" and seen[-1][1] == seen[-1][2] == total
    assert threads == {threading.get_ident()}


def test_an_exception_of_the_callback_ends_the_build(many_images, tmp_path):
    def progress(now):
        if now.stage == "packing":
            raise LookupError("enough")

    path = tmp_path / "a.rec"
    with pytest.raises(LookupError, match="enough"):
        imgpack.build(many_images, path, threads=1, encode="jpeg", resize=1000, upscale=True, progress=progress)
    assert not path.exists()


def _interrupt_once_it_exists(path):
    while not path.exists():
        time.sleep(0.001)
    os.kill(os.getpid(), signal.SIGINT)


def test_ctrl_c_ends_a_build_that_can_be_resumed(many_images, tmp_path):
    path = tmp_path / "a.rec"
    slow = dict(encode="jpeg", resize=1000, upscale=True, limit=150)  # a second of work
    threading.Thread(target=_interrupt_once_it_exists, args=(tmp_path / "a.rec.partial",)).start()
    with pytest.raises(KeyboardInterrupt):
        imgpack.build(many_images, path, threads=1, **slow)
    assert not path.exists() and (tmp_path / "a.rec.journal").exists()
    with pytest.raises(imgpack.AlreadyExistsError):
        imgpack.build(many_images, path, **slow)
    assert imgpack.build(many_images, path, resume=True, **slow).records == 150
    imgpack.build(many_images, tmp_path / "b.rec", **slow)
    assert path.read_bytes() == (tmp_path / "b.rec").read_bytes()


def test_other_python_threads_run_during_a_build(many_images, tmp_path):
    counted = 0
    done = threading.Event()

    def count():
        nonlocal counted
        while not done.wait(0.001):
            counted += 1

    thread = threading.Thread(target=count)
    thread.start()
    before = counted
    imgpack.build(many_images, tmp_path / "a.rec", threads=1, encode="jpeg", resize=100, upscale=True)
    during = counted - before
    done.set()
    thread.join()
    assert during > 5
