"""Killed, interrupted, out of space, two at once: what is left, and what --resume makes of it."""
import os
import random
import resource
import signal
import subprocess
import time
from pathlib import Path

import pytest

from imgpack_cli import (COMMAND, EXTENSIONS, FORMATS, companions, imgpack, imgpack_json, make_images, packed_bytes,
                         start, start_until, stop)

KILLS = 32
MAX_ATTEMPTS = 80


@pytest.fixture(scope="module")
def heavy(tmp_path_factory):
    """150 records of 200 kB: enough for the journal to be written several times on the way."""
    folder = make_images(tmp_path_factory.mktemp("heavy"), classes=1, per_class=30)
    noise = random.Random("heavy")
    images = sorted((folder / "train/n00000001").iterdir())
    for image in images:
        with image.open("ab") as file:  # what follows a JPEG's end is no error
            file.write(noise.randbytes(200_000))
    rows = [f"train/n00000001/{image.name},0,{i}/{image.name}" for i in range(5) for image in images]
    (folder / "list.csv").write_text("path,label,key\n" + "\n".join(rows) + "\n")
    return folder / "list.csv"


def reference_builds(source, folder):
    """{format: (bytes of an uninterrupted build, seconds of the quicker one of two)}"""
    result = {}
    for name in FORMATS:
        seconds = []
        for _ in range(2):
            out = folder / f"out.{EXTENSIONS[name]}"
            begin = time.monotonic()
            imgpack("build", source, out, "--overwrite")
            seconds.append(time.monotonic() - begin)
        result[name] = (packed_bytes(out), min(seconds))
    return result


@pytest.fixture(scope="module")
def reference(many_images, tmp_path_factory):
    return reference_builds(many_images, tmp_path_factory.mktemp("reference"))


@pytest.fixture(scope="module")
def heavy_reference(heavy, tmp_path_factory):
    return reference_builds(heavy, tmp_path_factory.mktemp("heavy_reference"))


def left_to_resume(out):
    """What an interrupted build may leave: nothing under OUT's own name, only material for --resume."""
    names = companions(out)
    assert Path(out).name not in names
    assert all(".partial" in name or ".journal" in name for name in names), names
    return names


def resume(source, out):
    return imgpack_json("build", source, out, "--resume")


def kill_after(seconds, *arguments):
    """Starts the command, kills it after a while, and says whether it still ran."""
    process = start(*arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(seconds)
    process.kill()
    return process.wait() == -signal.SIGKILL


@pytest.mark.parametrize("name", FORMATS)
def test_kill_at_any_moment(name, heavy, heavy_reference, tmp_path):
    """OUT is never there half-made, and what --resume makes of the rest has the bytes of an uninterrupted build."""
    expected, seconds = heavy_reference[name]
    dice = random.Random(f"kill {name}")
    out = tmp_path / f"out.{EXTENSIONS[name]}"
    killed = resumed = 0
    for attempt in range(MAX_ATTEMPTS):
        if killed >= KILLS // len(FORMATS) and resumed > 0:
            break
        # Some builds are killed more than once before they may finish.
        for i in range(1 + attempt % 2):
            killed += kill_after(dice.uniform(0, seconds), "build", heavy, out, *(["--resume"] if i > 0 else []))
            if out.exists():
                assert out.read_bytes() == expected[""]
                imgpack("verify", out)
                break
        if any(".journal" in entry for entry in companions(out)) or not out.exists():
            resumed += resume(heavy, out)["resumed_entries"] > 0
        assert packed_bytes(out) == expected
        for entry in companions(out):
            (tmp_path / entry).unlink()
    assert killed >= KILLS // len(FORMATS), "the builds were over before they were killed"
    assert resumed > 0, "no resumed build had anything to go on with"


def test_kill_while_building_shards(heavy, heavy_reference, tmp_path):
    imgpack("build", heavy, tmp_path / "whole.rec", "--shards", 3)
    whole = [(tmp_path / f"whole-0000{i}-of-00003.rec").read_bytes() for i in range(3)]
    dice = random.Random("shards")
    for attempt in range(6):
        out = tmp_path / f"{attempt}.rec"
        shards = [tmp_path / f"{attempt}-0000{i}-of-00003.rec" for i in range(3)]
        killed = kill_after(dice.uniform(0, heavy_reference["rec"][1]), "build", heavy, out, "--shards", 3)
        for shard, expected in zip(shards, whole):
            assert not shard.exists() or shard.read_bytes() == expected
        journals = list(tmp_path.glob("*.journal"))
        if killed and (journals or not all(shard.exists() for shard in shards)):
            imgpack("build", heavy, out, "--shards", 3, "--resume")
        assert [shard.read_bytes() for shard in shards] == whole
    assert not [path.name for path in tmp_path.iterdir() if path.suffix in (".partial", ".journal")]


def test_kill_while_converting(heavy, heavy_reference, tmp_path):
    source = tmp_path / "source.rec"
    imgpack("build", heavy, source)
    for name in FORMATS:
        out = tmp_path / f"out.{EXTENSIONS[name]}"
        if kill_after(heavy_reference[name][1] / 3, "convert", source, out) and not out.exists():
            left_to_resume(out)
            imgpack("convert", source, out, "--resume")
        assert packed_bytes(out) == heavy_reference[name][0]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupt(number, many_images, reference, tmp_path):
    """The build ends by the signal, leaving what --resume goes on with."""
    for attempt in range(5):
        out = tmp_path / f"{attempt}.rec"
        process = start_until("packing", "build", many_images, out, "--threads", 1, "--json")
        process.send_signal(number)
        output, errors = process.communicate(timeout=60)
        if process.returncode != 0:
            break
    assert process.returncode == -number
    assert b"imgpack: interrupted" in errors and b"--resume" in errors
    assert b'"code": "interrupted"' in output
    assert left_to_resume(out)
    assert resume(many_images, out)["records"] > 0
    assert packed_bytes(out) == reference["rec"][0]


def test_resume_wants_the_same_build(many_images, images, tmp_path):
    out = tmp_path / "out.rec"
    process = start_until("packing", "build", many_images, out, "--threads", 1)
    process.kill()
    process.communicate()
    if out.exists():
        pytest.fail("the build was over before it was killed")
    again = imgpack_json("build", many_images, out, code=2)["error"]
    assert again["code"] == "already_exists" and "--resume" in again["message"]
    for source, options in ((images, []), (many_images, ["--limit", 7]), (many_images, ["--align", 128])):
        error = imgpack_json("build", source, out, "--resume", *options, code=2)["error"]
        assert error["code"] == "invalid_argument" and "--overwrite" in error["message"]
    imgpack("build", images, out, "--overwrite")
    imgpack("verify", out, "--source", images)
    assert companions(out) == ["out.rec"]


def test_resume_with_nothing_to_resume_is_a_build(images, packed, tmp_path):
    imgpack("build", images, tmp_path / "out.rec", "--resume")
    assert (tmp_path / "out.rec").read_bytes() == packed["rec"].read_bytes()


# No room

def limited_file_size(size):
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("share", [0.02, 0.5, 0.97])
def test_file_size_limit(name, share, many_images, reference, tmp_path):
    expected, _ = reference[name]
    out = tmp_path / f"out.{EXTENSIONS[name]}"
    limit = int(len(expected[""]) * share)
    done = imgpack("build", many_images, out, "--json", code=3, preexec_fn=limited_file_size(limit))
    error = done.json()["error"]
    assert error["code"] == "io" and "too large" in error["message"].lower() and error["file"]
    assert done.err.startswith("imgpack: ") and "--resume" in done.err
    left_to_resume(out)
    resume(many_images, out)
    assert packed_bytes(out) == expected


def in_small_file_system(folder, megabytes, script, *arguments):
    """Runs a shell script with $DIR, a file system of its own that is gone afterwards. None if that is not allowed."""
    mounted = f"mount -t tmpfs -o size={megabytes}m tmpfs '{folder}' || exit 77\nDIR='{folder}'\n{script}"
    unshare = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--mount", "--map-root-user"]
    done = subprocess.run([*unshare, "sh", "-c", mounted, *map(str, arguments)], capture_output=True, text=True,
                          timeout=240)
    return None if done.returncode in (1, 77) and ("unshare" in done.stderr or "mount" in done.stderr) else done


@pytest.mark.parametrize("name", FORMATS)
def test_full_disk(name, many_images, reference, tmp_path):
    expected, _ = reference[name]
    (tmp_path / "small").mkdir()
    (tmp_path / "result").mkdir()
    size = sum(map(len, expected.values()))
    out = f"out.{EXTENSIONS[name]}"
    script = f"""
        "$0" build "$1" "$DIR/{out}"; echo "code $?"
        ls -A "$DIR"
        mount -o remount,size={size // 1_000_000 * 8 + 64}m "$DIR"
        "$0" build "$1" "$DIR/{out}" --resume >&2 && cp "$DIR"/* "$2"
    """
    done = in_small_file_system(tmp_path / "small", max(1, size // 2_000_000), script, COMMAND, many_images,
                                tmp_path / "result")
    if done is None:
        pytest.skip("mounting a small file system is not allowed here; the file-size limit is tested all the same")
    lines = done.stdout.split("\n")
    assert lines[0] == "code 3", done
    assert "No space left on device" in done.stderr and "--resume" in done.stderr
    assert out not in lines and all(".partial" in line or ".journal" in line for line in lines[1:] if line), lines
    assert done.returncode == 0, done
    assert packed_bytes(tmp_path / "result" / out) == expected


# Two at once

def test_two_builds_of_one_output(many_images, reference, tmp_path):
    for attempt in range(5):
        out = tmp_path / f"{attempt}.rec"
        process = start_until("packing", "build", many_images, out, "--threads", 1)
        if stop(process) and not out.exists():
            break
        process.communicate()
    for options in ([], ["--overwrite"], ["--resume"]):
        error = imgpack_json("build", many_images, out, *options, code=3)["error"]
        assert error["code"] == "busy"
    assert "another process" in imgpack("build", many_images, out, code=3).err
    process.send_signal(signal.SIGCONT)
    process.communicate(timeout=60)
    assert process.returncode == 0
    assert packed_bytes(out) == reference["rec"][0]
