"""Sources as they should not be: a clear word for each, never a crash, a hang or a half-made output."""
import os
import random
import shutil
import signal


import subprocess
import tempfile
from pathlib import Path

import pytest

from imgpack_cli import (COMMAND, EXTENSIONS, FORMATS, files_below, imgpack, imgpack_json, make_images, start_until, stop)

GOOD = 4  # images in `folder`


@pytest.fixture
def folder(tmp_path):
    """One class with four good images, of which tests spoil the surroundings."""
    images = make_images(tmp_path / "made", classes=1, per_class=GOOD)
    (images / "train").rename(tmp_path / "source")
    shutil.rmtree(images)
    return tmp_path / "source"


def class_folder(folder):
    return folder / "n00000001"


def refused_by_name(folder, tmp_path, key, reason):
    """The build stops at the entry, naming it; with --on-error skip it packs the rest and lists it."""
    out = tmp_path / "out.rec"
    stopped = imgpack_json("build", folder, out, code=1)
    assert stopped["error"]["code"] == "refused"
    assert key in stopped["error"]["file"] and reason in stopped["error"]["message"].lower()
    assert not out.exists()
    text = imgpack("build", folder, out, "--overwrite", code=1).err
    assert key in text and "--on-error skip" in text

    skipped = imgpack_json("build", folder, out, "--on-error", "skip", "--overwrite", code=1)
    assert skipped["refused_count"] == 1 and skipped["records"] == GOOD
    entry, = [entry for entry in skipped["left_out"] if not entry["ignored"]]
    assert key in entry["key"] and reason in entry["reason"].lower()
    text = imgpack("build", folder, out, "--on-error", "skip", "--overwrite", code=1).out.decode()
    assert key in text
    assert imgpack_json("info", out)["left_out"][0] == entry
    assert imgpack_json("verify", out, "--source", folder)["files"][0]["source"]["left_out_count"] == 1


@pytest.mark.parametrize("content,reason", [(b"", "empty"), (b"\xff\xd8\xff", ""), (b"<html>404</html>" * 9, ""),
                                            (b"\x89PNG\r\n\x1a\n", "")], ids=["empty", "cut", "html", "png"])
def test_files_that_are_no_images(content, reason, folder, tmp_path):
    (class_folder(folder) / "bad.JPEG").write_bytes(content)
    refused_by_name(folder, tmp_path, "n00000001/bad.JPEG", reason)


def test_broken_symbolic_link(folder, tmp_path):
    (class_folder(folder) / "bad.JPEG").symlink_to("nowhere")
    refused_by_name(folder, tmp_path, "n00000001/bad.JPEG", "link")


def test_symbolic_link_to_itself(folder, tmp_path):
    (class_folder(folder) / "bad.JPEG").symlink_to("bad.JPEG")
    refused_by_name(folder, tmp_path, "n00000001/bad.JPEG", "link")


def test_loop_of_folders(folder, tmp_path):
    (class_folder(folder) / "round").symlink_to("..", target_is_directory=True)
    refused_by_name(folder, tmp_path, "round", "")


def test_fifo_and_socket_do_not_block(folder, tmp_path):
    os.mkfifo(class_folder(folder) / "bad.JPEG")
    refused_by_name(folder, tmp_path, "n00000001/bad.JPEG", "")


def test_name_that_is_not_utf8(folder, tmp_path):
    good = next(class_folder(folder).iterdir())
    shutil.copy(good, os.fsencode(class_folder(folder)) + b"/bad\xff.JPEG")
    refused_by_name(folder, tmp_path, "n00000001/bad\\xff.JPEG", "utf-8")


def test_unreadable_file(folder):
    """Root reads everything, so there the command runs as nobody."""
    with tempfile.TemporaryDirectory() as base:
        os.chmod(base, 0o755)
        source = Path(base) / "source"
        shutil.copytree(folder, source)
        target = Path(base) / "out"
        target.mkdir()
        target.chmod(0o777)
        command = shutil.copy(COMMAND, base)
        bad = class_folder(source) / "bad.JPEG"
        shutil.copy(next(class_folder(source).iterdir()), bad)
        bad.chmod(0)
        as_user = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}
        done = subprocess.run([command, "build", source, target / "a.rec"], capture_output=True, text=True, timeout=60,
                              cwd=base, **as_user)
        assert done.returncode == 1 and "bad.JPEG" in done.stderr and "ermission" in done.stderr
        done = subprocess.run([command, "build", source, target / "b.rec", "--on-error", "skip"], capture_output=True,
                              text=True, timeout=60, cwd=base, **as_user)
        assert done.returncode == 1 and "bad.JPEG" in done.stdout
        closed = Path(base) / "closed"
        closed.mkdir(mode=0o700)
        done = subprocess.run([command, "build", source, closed / "a.rec"], capture_output=True, text=True, timeout=60,
                              cwd=base, **as_user)
        if as_user:
            assert done.returncode == 3 and "ermission" in done.stderr


def test_nothing_to_pack(tmp_path):
    empty = tmp_path / "empty"
    empty.mkdir()
    assert imgpack_json("build", empty, tmp_path / "a.rec", code=1)["error"]["code"] == "refused"
    assert "--on-error" not in imgpack("build", empty, tmp_path / "a.rec", code=1).err
    (empty / "class").mkdir()
    assert imgpack_json("build", empty, tmp_path / "a.rec", code=1)["error"]["code"] == "refused"
    assert not (tmp_path / "a.rec").exists()


def test_sources_that_are_no_sources(tmp_path):
    (tmp_path / "noise").write_bytes(random.Random(1).randbytes(5000))
    (tmp_path / "empty").write_bytes(b"")
    for source in (tmp_path / "noise", tmp_path / "empty", "/dev/null", "/dev/zero"):
        document = imgpack_json("build", source, tmp_path / "a.rec", code=None)
        assert document["error"]["message"]
        done = imgpack("build", source, tmp_path / "a.rec", code=None)
        assert done.code in (1, 2) and str(source) in done.err
    assert not (tmp_path / "a.rec").exists()


def test_output_never_takes_the_place_of_an_input(folder, tmp_path):
    out = tmp_path / "out.rec"
    imgpack("build", folder, out)
    before = out.read_bytes()
    failure = imgpack_json("merge", out, out, "--overwrite", code=2)["error"]
    assert failure["code"] == "invalid_argument" and failure["file"] == str(out)
    assert out.read_bytes() == before
    manifest = folder / "list.csv"
    manifest.write_text("path,label\n" + "".join(f"{image.relative_to(folder)},a\n" for image in folder.rglob("*.J*")))
    before = manifest.read_bytes()
    assert imgpack_json("build", manifest, manifest, "--overwrite", code=2)["error"]["code"] == "invalid_argument"
    assert manifest.read_bytes() == before


def test_empty_class_is_a_warning(folder, tmp_path):
    (folder / "nothing").mkdir()
    report = imgpack_json("build", folder, tmp_path / "a.rec")
    assert report["classes"] == 2 and any("nothing" in warning for warning in report["warnings"])
    assert "nothing" in imgpack("build", folder, tmp_path / "b.rec").out.decode()


def test_files_that_are_no_images_nor_named_so_are_ignored(folder, tmp_path):
    (class_folder(folder) / "README.txt").write_text("about")
    report = imgpack_json("build", folder, tmp_path / "a.rec")
    assert (report["ignored_count"], report["refused_count"], report["records"]) == (1, 0, GOOD)
    assert report["left_out"][0]["ignored"] is True
    assert imgpack_json("verify", tmp_path / "a.rec", "--source", folder)["good"] is True


def test_type_is_decided_by_content(folder, tmp_path):
    images = sorted(class_folder(folder).iterdir())
    images[0].rename(class_folder(folder) / "no_extension")
    images[1].rename(class_folder(folder) / "named.png")
    report = imgpack_json("build", folder, tmp_path / "a.rec")
    assert report["records"] == GOOD
    assert imgpack_json("info", tmp_path / "a.rec")["codecs"] == {"jpeg": GOOD}


def test_duplicate_keys_name_both(folder, tmp_path):
    name = next(class_folder(folder).iterdir()).name
    (tmp_path / "list.csv").write_text(f"path,label\nsource/n00000001/{name},a\nsource/n00000001/{name},b\n")
    document = imgpack_json("build", tmp_path / "list.csv", tmp_path / "a.rec", code=1)
    assert name in document["error"]["message"]
    assert not (tmp_path / "a.rec").exists()


def test_more_than_twenty_left_out(folder, tmp_path):
    for i in range(30):
        (class_folder(folder) / f"bad_{i:02}.JPEG").write_bytes(b"no")
    text = imgpack("build", folder, tmp_path / "a.rec", "--on-error", "skip", code=1).out.decode()
    assert text.count("left out") == 20 and "and 10 more" in text
    report = imgpack_json("build", folder, tmp_path / "b.rec", "--on-error", "skip", code=1)
    assert report["refused_count"] == len(report["left_out"]) == 30


def test_converting_counts_only_what_it_leaves_out_itself(folder, tmp_path):
    """What the build had left out stays on record, but is no failure of the conversion."""
    (class_folder(folder) / "bad.JPEG").write_bytes(b"no")
    imgpack("build", folder, tmp_path / "a.rec", "--on-error", "skip", code=1)
    report = imgpack_json("convert", tmp_path / "a.rec", tmp_path / "b.rec")
    assert report["refused_count"] == 0 and report["left_out"] == []
    assert imgpack_json("info", tmp_path / "b.rec")["left_out_count"] == 1
    assert (tmp_path / "a.rec").read_bytes() == (tmp_path / "b.rec").read_bytes()


def test_source_that_disappears(many_images, tmp_path):
    source = tmp_path / "source"
    shutil.copytree(many_images, source)
    process = start_until("packing", "build", source, tmp_path / "out.rec", "--threads", 1)
    caught = stop(process)
    shutil.rmtree(source)
    process.send_signal(signal.SIGCONT)
    out, err = process.communicate(timeout=60)
    assert process.returncode in (0, 1)
    if process.returncode == 1:
        assert caught and b"imgpack: " in err and b".JPEG" in err
        assert not (tmp_path / "out.rec").exists()
    else:
        imgpack("verify", tmp_path / "out.rec")


# Packed files with hostile keys: a manifest may give any.

HOSTILE = {
    "../../etc/x": "..", "/etc/imgpack-test": "absolute", "a/../../b": "..", "./c": "'.'", "d//e": "empty",
    "f/": "empty", "g" * 70_000: "long", "h/" + "i" * 300: "long",
}


@pytest.fixture
def hostile(folder, tmp_path):
    images = sorted(class_folder(folder).iterdir())
    shutil.copy(images[0], tmp_path / "image.JPEG")
    # One path gives one record a row, as long as the keys differ.
    rows = [f'image.JPEG,0,"{key}"' for key in [*HOSTILE, "good/one.JPEG", "good/two.JPEG"]]
    (tmp_path / "keys.csv").write_text("path,label,key\n" + "\n".join(rows) + "\n")
    return tmp_path / "keys.csv"


@pytest.mark.parametrize("name", FORMATS)
def test_extract_stays_inside_its_folder(name, hostile, tmp_path):
    out = tmp_path / f"out.{EXTENSIONS[name]}"
    imgpack("build", hostile, out)
    before = files_below(tmp_path)
    inside = tmp_path / "a/b/dir"
    document = imgpack_json("extract", out, inside, code=1)
    assert set(files_below(inside)) == {b"good/one.JPEG", b"good/two.JPEG"}
    assert document["records"] == 2 and document["refused_count"] == len(HOSTILE)
    for problem in document["not_extracted"]:
        assert HOSTILE[problem["key"]] in problem["reason"]
    shutil.rmtree(tmp_path / "a")
    assert files_below(tmp_path) == before
    assert not os.path.exists("/etc/imgpack-test")
    text = imgpack("extract", out, inside, code=1).err
    assert "../../etc/x" in text and len(text) < 10_000


def test_extract_does_not_follow_links(folder, tmp_path):
    out = tmp_path / "out.rec"
    imgpack("build", folder, out)
    outside = tmp_path / "outside"
    outside.mkdir()
    target = tmp_path / "dir"
    target.mkdir()
    (target / "n00000001").symlink_to(outside)
    for options in ([], ["--overwrite"]):
        document = imgpack_json("extract", out, target, *options, code=1)
        assert document["refused_count"] == GOOD and "link" in document["not_extracted"][0]["reason"]
    assert list(outside.iterdir()) == []


# Damage

@pytest.mark.parametrize("name", FORMATS)
def test_damaged_payload_is_pinned_and_not_extracted(name, packed, images, tmp_path):
    out = tmp_path / packed[name].name
    for file in packed[name].parent.iterdir():
        if file.name.startswith(out.name):
            shutil.copy2(file, tmp_path)
    before = out.stat()
    victim = imgpack_json("ls", out)["records"][7]
    payload = (images / victim["key"]).read_bytes()
    content = bytearray(out.read_bytes())
    at = content.index(payload) + len(payload) // 2
    content[at] ^= 0x10
    out.write_bytes(content)
    os.utime(out, ns=(before.st_atime_ns, before.st_mtime_ns))  # as a failing disk would damage it

    document = imgpack_json("verify", out, code=1)
    assert any(damage["record"] == 7 for damage in document["files"][0]["damage"]), document
    text = imgpack("verify", out, code=1).out.decode()
    assert "DAMAGED" in text and "record 7" in text
    extracted = imgpack_json("extract", out, tmp_path / "dir", code=1)
    assert extracted["damaged_count"] == 1 and extracted["not_extracted"][0]["record"] == 7
    source = files_below(images)
    del source[victim["key"].encode()]
    assert files_below(tmp_path / "dir") == source
    stopped = imgpack_json("convert", out, tmp_path / "converted.rec", code=1)
    assert stopped["error"]["code"] in ("refused", "damaged")
    skipped = imgpack_json("convert", out, tmp_path / "converted.rec", "--on-error", "skip", "--overwrite", code=1)
    assert skipped["records"] == len(source) and skipped["left_out"][0]["key"] == victim["key"]


@pytest.mark.parametrize("name", FORMATS)
def test_damage_anywhere_never_crashes_the_command(name, packed, tmp_path):
    """The libraries' own tests go through every byte; here a sample through all subcommands."""
    dice = random.Random(7)
    out = tmp_path / packed[name].name
    original = packed[name].read_bytes()
    for attempt in range(12):
        content = bytearray(original)
        if attempt % 3 == 0:
            del content[dice.randrange(len(content)):]
        else:
            for _ in range(dice.choice((1, 8))):
                content[dice.randrange(len(content))] ^= 1 << dice.randrange(8)
        out.write_bytes(content)
        for arguments in (["verify", out], ["info", out], ["ls", out], ["extract", out, tmp_path / "dir", "--overwrite"]):
            done = imgpack(*arguments, "--json", code=None)
            assert done.code in (0, 1), (attempt, arguments, done.code, done.err)
            document = done.json()
            if done.code == 1 and arguments[0] in ("info", "ls"):
                assert document["error"]["code"] == "damaged"
        if name in ("rec", "tfrecord"):
            imgpack("verify", out, code=1)
