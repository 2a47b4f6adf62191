"""What each subcommand does when all is well, and what it says about wrong usage."""
import itertools

import re
import shutil
import signal
import subprocess


import pytest

from imgpack_cli import (COMMAND, EXTENSIONS, FORMATS, companions, files_below, imgpack, imgpack_json, packed_bytes,
                         start)

RECORDS = 24
SUBCOMMANDS = ["build", "verify", "info", "ls", "extract", "convert", "merge", "bench", "doctor", "view", "completion"]


# build, verify, extract

@pytest.mark.parametrize("name", FORMATS)
def test_round_trip(name, images, tmp_path):
    out = tmp_path / f"out.{EXTENSIONS[name]}"
    report = imgpack_json("build", images, out)
    source = files_below(images)
    assert report["format"] == name
    assert report["source_kind"] == "splits"
    assert report["outputs"] == [str(out)]
    assert report["records"] == report["entries"] == len(source) == RECORDS
    assert report["payload_bytes"] == sum(map(len, source.values()))
    assert report["classes"] == 3
    assert report["splits"] == [{"name": "train", "begin": 0, "end": 18}, {"name": "val", "begin": 18, "end": 24}]
    assert report["refused_count"] == report["ignored_count"] == 0
    assert not any(re.search(r"\.(partial|journal)", file) for file in companions(out))

    verified = imgpack_json("verify", out, "--source", images)
    assert verified["good"] is True
    assert verified["files"][0]["records"] == RECORDS
    assert verified["files"][0]["payload_bytes"] == report["payload_bytes"]
    assert verified["files"][0]["source"]["compared"] == RECORDS

    extracted = imgpack_json("extract", out, tmp_path / "dir")
    assert extracted["records"] == RECORDS
    assert files_below(tmp_path / "dir") == source


@pytest.mark.parametrize("name", FORMATS)
def test_format_option_wins_over_extension(name, images, tmp_path):
    out = tmp_path / "out.rec"
    assert imgpack_json("build", images, out, "--format", name)["format"] == name
    assert imgpack_json("info", out)["format"] == name


def test_unknown_extension_means_rec(images, tmp_path):
    assert imgpack_json("build", images, tmp_path / "out.data")["format"] == "rec"


@pytest.mark.parametrize("name", FORMATS)
def test_output_does_not_depend_on_threads_or_time(name, images, packed, tmp_path):
    expected = packed_bytes(packed[name])
    for threads in (1, 7):
        out = tmp_path / f"{threads}.{EXTENSIONS[name]}"
        imgpack("build", images, out, "--threads", threads)
        assert packed_bytes(out) == expected


def test_options_of_build(images, tmp_path):
    limited = imgpack_json("build", images, tmp_path / "limited.rec", "--limit", 5, "--metadata", "owner=me",
                           "--metadata", "note=a=b")
    assert limited["records"] == limited["entries"] == 5
    assert imgpack_json("info", tmp_path / "limited.rec")["metadata"] == {"owner": "me", "note": "a=b"}
    assert [(record["split"], record["label"]) for record in imgpack_json("ls", tmp_path / "limited.rec")["records"]] == [
        ("train", 0), ("train", 0), ("train", 1), ("train", 2), ("val", 0)]

    planned = imgpack_json("build", images, tmp_path / "planned.rec", "--dry-run", "--shards", 3)
    assert planned["dry_run"] is True and planned["entries"] == RECORDS
    assert planned["outputs"] == [str(tmp_path / f"planned-0000{i}-of-00003.rec") for i in range(3)]
    assert [path.name for path in tmp_path.iterdir()] == ["limited.rec"]

    imgpack("build", images, tmp_path / "aligned.rec", "--align", "4KiB")
    imgpack("verify", tmp_path / "aligned.rec", "--source", images)
    assert (tmp_path / "aligned.rec").stat().st_size > RECORDS * 4096


def test_shuffling_keeps_splits_and_is_reproducible(images, tmp_path):
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        imgpack("build", images, tmp_path / f"{name}.rec", "--shuffle-seed", seed)
    a, b, c = ((tmp_path / f"{name}.rec").read_bytes() for name in "abc")
    assert a == b != c
    keys = imgpack("ls", tmp_path / "a.rec").out.decode().splitlines()
    assert keys != sorted(keys)
    assert sorted(keys) == sorted(file.decode() for file in files_below(images))
    train = imgpack("ls", tmp_path / "a.rec", "--split", "train").out.decode().splitlines()
    assert len(train) == 18 and all(key.startswith("train/") for key in train)
    imgpack("verify", tmp_path / "a.rec", "--source", images)


@pytest.mark.parametrize("name", FORMATS)
def test_verify_tells_what_became_of_the_source(name, images, tmp_path):
    source = tmp_path / "images"
    shutil.copytree(images, source)
    out = tmp_path / f"out.{EXTENSIONS[name]}"
    imgpack("build", source, out)
    folder = source / "train/n00000001"
    changed, removed, moved = (folder / f"n00000001_{i}.JPEG" for i in range(3))
    changed.write_bytes(changed.read_bytes() + b"x")
    removed.unlink()
    moved.rename(source / "train/n00000002/moved.JPEG")
    (folder / "notes.txt").write_text("nothing to pack")
    report = imgpack_json("verify", out, "--source", source, code=1)["files"][0]
    compared = report["source"]
    assert report["damage_count"] == 0 and report["good"] is False and compared["good"] is False
    assert compared["compared"] == RECORDS - 3
    assert [item["record"] for item in compared["different"]] == [0]
    assert [item["record"] for item in compared["extra"]] == [1, 2]
    assert [item["key"] for item in compared["missing"]] == ["train/n00000002/moved.JPEG"]
    text = imgpack("verify", out, "--source", source, code=1).out.decode()
    for word in ("n00000001_0.JPEG", "n00000001_1.JPEG", "moved.JPEG", "1 different, 1 missing, 2 not in the source"):
        assert word in text


# shards

@pytest.mark.parametrize("name", FORMATS)
def test_shards(name, images, packed, tmp_path):
    extension = EXTENSIONS[name]
    whole = imgpack_json("build", images, tmp_path / f"s.{extension}", "--shards", 4)
    names = [tmp_path / f"s-0000{i}-of-00004.{extension}" for i in range(4)]
    assert whole["outputs"] == list(map(str, names)) and whole["records"] == RECORDS
    assert not (tmp_path / f"s.{extension}").exists()

    alone = imgpack_json("build", images, tmp_path / f"t.{extension}", "--shard", "2/4")
    assert alone["outputs"] == [str(tmp_path / f"t-00002-of-00004.{extension}")]
    assert packed_bytes(alone["outputs"][0]) == packed_bytes(names[2])

    keys = imgpack("ls", packed[name]).out
    pattern = str(tmp_path / f"s-*-of-00004.{extension}")
    for dataset in (tmp_path / f"s.{extension}", pattern):
        assert imgpack("ls", dataset).out == keys
        assert imgpack_json("verify", dataset, "--source", images)["good"] is True
    assert imgpack_json("verify", *names)["good"] is True

    manifest = tmp_path / "all.json"
    merged = imgpack_json("merge", manifest, *names)
    assert merged["records"] == RECORDS
    assert imgpack("ls", manifest).out == keys
    assert manifest.stat().st_size < 10_000

    imgpack("merge", "--copy", tmp_path / f"one.{extension}", *names)
    assert packed_bytes(tmp_path / f"one.{extension}") == packed_bytes(packed[name])
    imgpack("convert", manifest, tmp_path / f"two.{extension}")
    assert packed_bytes(tmp_path / f"two.{extension}") == packed_bytes(packed[name])
    assert not [path for path in tmp_path.iterdir() if "inputs" in path.name or "partial" in path.name]


def test_shard_size(images, tmp_path):
    report = imgpack_json("build", images, tmp_path / "s.rec", "--shard-size", "10kB")
    assert len(report["outputs"]) > 2
    for output in report["outputs"]:
        info = imgpack_json("info", output)
        assert info["payload_bytes"] < 10_000 or info["records"] == 1
    assert imgpack_json("verify", tmp_path / "s.rec", "--source", images)["good"] is True


def test_missing_shard_is_noticed(images, tmp_path):
    imgpack("build", images, tmp_path / "s.rec", "--shards", 3)
    (tmp_path / "s-00001-of-00003.rec").unlink()
    assert imgpack_json("info", tmp_path / "s.rec", code=1)["error"]["code"] == "damaged"


# convert

@pytest.mark.parametrize("pair", itertools.product(FORMATS, FORMATS), ids="-".join)
def test_convert_gives_what_a_build_gives(pair, packed, tmp_path):
    before, after = pair
    out = tmp_path / f"out.{EXTENSIONS[after]}"
    report = imgpack_json("convert", packed[before], out)
    assert report["records"] == RECORDS and report["format"] == after
    assert packed_bytes(out) == packed_bytes(packed[after])


def test_fields_survive_every_format(images, tmp_path):
    rows = ["path,label,split,weight,note"]
    for i, file in enumerate(sorted(files_below(images))[:6]):
        rows.append(f"images/{file.decode()},{'cat' if i % 2 else 'dog'},{'train' if i < 4 else 'val'},{i}.5,\"n, {i}\"")
    shutil.copytree(images, tmp_path / "images")
    (tmp_path / "list.csv").write_text("\n".join(rows) + "\n")
    imgpack("build", tmp_path / "list.csv", tmp_path / "a.rec")
    expected = imgpack_json("ls", tmp_path / "a.rec")["records"]
    assert [record["fields"] for record in expected] == [{"weight": i + 0.5, "note": f"n, {i}"} for i in range(6)]
    assert [record["class"] for record in expected] == ["dog", "cat"] * 3
    assert [record["split"] for record in expected] == ["train"] * 4 + ["val"] * 2
    for name in FORMATS:
        out = tmp_path / f"b.{EXTENSIONS[name]}"
        imgpack("build", tmp_path / "list.csv", out, "--overwrite")
        assert imgpack_json("ls", out)["records"] == expected
        imgpack("verify", out, "--source", tmp_path / "list.csv")


# info and ls

@pytest.mark.parametrize("name", FORMATS)
def test_info(name, images, packed):
    info = imgpack_json("info", packed[name])
    sizes = list(map(len, files_below(images).values()))
    assert info["format"] == name and info["records"] == RECORDS
    assert info["payload_bytes"] == sum(sizes)
    assert info["record_bytes"] == {"min": min(sizes), "max": max(sizes)}
    assert [item["name"] for item in info["classes"]] == ["n00000001", "n00000002", "n00000003"]
    assert info["codecs"] == {"jpeg": RECORDS}
    assert info["transform"] == {"encode": "keep"}
    assert info["source_kind"] == "splits" and info["source_name"] == "images"
    text = imgpack("info", packed[name]).out.decode()
    for word in (name, "24 records", "n00000002", "train", "18 records", "24 jpeg", info["tool_version"]):
        assert word in text


@pytest.mark.parametrize("name", FORMATS)
def test_ls(name, images, packed):
    keys = imgpack("ls", packed[name]).out.decode().splitlines()
    assert keys == sorted(file.decode() for file in files_below(images))
    listed = imgpack_json("ls", packed[name])["records"]
    assert [record["key"] for record in listed] == keys
    assert [record["record"] for record in listed] == list(range(RECORDS))
    for record in listed:
        split, folder, _ = record["key"].split("/")
        assert (record["split"], record["class"]) == (split, folder)
        assert record["label"] == int(folder[1:]) - 1
        assert record["payload_bytes"] == (images / record["key"]).stat().st_size
        assert record["codec"] == "jpeg" and 32 <= record["width"] < 93 and record["channels"] in (1, 3)
        assert re.fullmatch("[0-9a-f]{16}", record["checksum"])


def test_ls_filters(packed):
    def keys(*options):
        return imgpack("ls", packed["rec"], *options).out.decode().splitlines()
    assert len(keys("--split", "val")) == 6
    assert all("/n00000002/" in key for key in keys("--class", "n00000002"))
    assert len(keys("--class", "n00000002", "--class", "n00000003")) == 16
    assert len(keys("--split", "val", "--class", "n00000002")) == 2
    assert keys("--limit", "3") == keys()[:3]
    assert imgpack_json("ls", packed["rec"], "--split", "val", "--limit", 1)["records"][0]["record"] == 18
    assert imgpack_json("ls", packed["rec"], "--limit", 1, "--class", "n00000003")["records"][0]["label"] == 2
    line = imgpack("ls", packed["rec"], "--long", "--limit", 1).out.decode()
    assert line.split()[0] == "0" and line.split()[1] == "train" and line.rstrip().endswith(keys()[0])


# extract

def test_extract_parts(images, packed, tmp_path):
    source = files_below(images)
    imgpack("extract", packed["rec"], tmp_path / "val", "--split", "val")
    assert files_below(tmp_path / "val") == {k: v for k, v in source.items() if k.startswith(b"val/")}
    key = b"train/n00000002/n00000002_3.JPEG"
    imgpack("extract", packed["rec"], tmp_path / "one", "--key", key)
    assert files_below(tmp_path / "one") == {key: source[key]}
    assert imgpack("extract", packed["rec"], "-", "--key", key).out == source[key]
    missing = imgpack_json("extract", packed["rec"], tmp_path / "none", "--key", "nope", code=2)
    assert missing["error"]["code"] == "not_found"
    imgpack("extract", packed["rec"], "-", code=2)
    imgpack("extract", packed["rec"], "-", "--key", key, "--json", code=2)
    imgpack("extract", packed["rec"], tmp_path / "x", "--key", key, "--split", "val", code=2)


# Existing outputs

@pytest.mark.parametrize("name", FORMATS)
def test_nothing_is_replaced_without_being_asked(name, images, packed, tmp_path):
    out = tmp_path / f"out.{EXTENSIONS[name]}"
    imgpack("build", images, out, "--limit", 3)
    before = packed_bytes(out)
    for arguments in (["build", images, out], ["convert", packed["rec"], out], ["merge", out, packed[name]],
                      ["merge", "--copy", out, packed[name]]):
        refused = imgpack_json(*arguments, code=2)
        assert refused["error"]["code"] == "already_exists"
        assert refused["error"]["file"] == str(out)
        assert packed_bytes(out) == before
    text = imgpack("build", images, out, code=2).err
    assert text.startswith("imgpack: ") and "--overwrite" in text
    imgpack("build", images, out, "--overwrite")
    assert packed_bytes(out) == packed_bytes(packed[name])


def test_a_foreign_file_is_not_replaced_either(images, tmp_path):
    out = tmp_path / "out.rec"
    out.write_text("precious")
    imgpack("build", images, out, code=2)
    assert out.read_text() == "precious"
    (tmp_path / "folder.rec").mkdir()
    assert imgpack_json("build", images, tmp_path / "folder.rec", code=2)["error"]["code"] == "already_exists"


def test_extract_replaces_only_when_asked(images, packed, tmp_path):
    imgpack("extract", packed["rec"], tmp_path / "dir")
    victim = tmp_path / "dir/val/n00000001/n00000001_0.JPEG"
    victim.write_text("mine")
    assert imgpack_json("extract", packed["rec"], tmp_path / "dir", code=2)["error"]["code"] == "already_exists"
    assert victim.read_text() == "mine"
    imgpack("extract", packed["rec"], tmp_path / "dir", "--overwrite")
    assert files_below(tmp_path / "dir") == files_below(images)


# Output

def test_standard_output_is_pure(images, packed, tmp_path):
    done = imgpack("build", images, tmp_path / "a.rec", "--json", "--progress", "plain")
    assert done.json()["records"] == RECORDS
    assert "scanning" in done.err
    assert imgpack("build", images, tmp_path / "b.rec").err == ""
    for arguments in (["build", images, tmp_path / "c.rec"], ["verify", packed["rec"]], ["info", packed["rec"]],
                      ["extract", packed["rec"], tmp_path / "d"], ["convert", packed["rec"], tmp_path / "e.rec"],
                      ["merge", tmp_path / "f", packed["rec"]],
                      ["bench", packed["rec"], "--measure", "seq", "--seconds", "0.01", "--rounds", "1"]):
        quiet = imgpack(*arguments, "--quiet")
        assert (quiet.out, quiet.err) == (b"", "")


@pytest.mark.parametrize("arguments", [
    [], ["nonsense"], ["build"], ["build", "a"], ["build", "a", "b", "c"], ["ls", "a", "--unknown"],
    ["build", "a", "b", "--shard", "4/4"], ["build", "a", "b", "--shard-size", "big"],
    ["build", "a", "b", "--shards", "2", "--shard", "0/2"], ["build", "a", "b", "--format", "zip"],
    ["build", "a", "b", "--encode", "png"], ["build", "a", "b", "--resize", "256"], ["build", "a", "b", "--zstd", "3"],
    ["build", "a", "b", "--jpeg", "fast"], ["verify", "--decode"], ["extract", "a", "b", "--pixels", "jpeg"],
    ["bench"], ["bench", "a", "--measure", "speed"], ["bench", "a", "--measure", "train"], ["bench", "a", "--step-ms", "5"],
    ["bench", "a", "--seconds", "0"], ["bench", "a", "--rounds", "0"], ["bench", "a", "--plot", "x.png"],
    ["bench", "a", "--device", "tpu"], ["bench", "a", "--baseline", "b"], ["doctor"],
    ["doctor", "a", "--rounds", "0"], ["doctor", "a", "--step-ms", "1", "--step-command", "b"], ["view", "a", "-o", "b.gif"], ["view"], ["merge", "a", "b", "--format", "rec"], ["build", "a", "b", "--align", "7"],
    ["verify", "a", "b", "--source", "c"], ["completion", "csh"], ["build", "a", "b", "--metadata", "x"]], ids=" ".join)
def test_wrong_usage(arguments, tmp_path):
    error = imgpack_json(*arguments, code=2, cwd=tmp_path)["error"]
    assert error["code"] == "invalid_argument" and error["message"]
    assert set(error) == {"code", "message", "file", "record", "offset"}
    text = imgpack(*arguments, code=2, cwd=tmp_path)
    assert text.out == b"" and text.err.startswith("imgpack: ")


@pytest.mark.parametrize("alignment", ["24", "100", "65535"])
def test_alignment_must_be_a_power_of_two(alignment, images, tmp_path):
    assert imgpack_json("build", images, tmp_path / "a.rec", "--align", alignment, code=2)["error"]["code"] == "invalid_argument"
    assert list(tmp_path.iterdir()) == []


def test_things_that_are_not_there(images, packed, tmp_path):
    absent = tmp_path / "absent"
    for arguments in (["build", absent, tmp_path / "a.rec"], ["info", absent], ["ls", absent], ["verify", absent],
                      ["extract", absent, tmp_path / "d"], ["convert", absent, tmp_path / "a.rec"],
                      ["merge", tmp_path / "m", packed["rec"], absent], ["bench", packed["rec"], absent],
                      ["bench", packed["rec"], "--split", "nope"], ["ls", packed["rec"], "--split", "nope"],
                      ["ls", packed["rec"], "--class", "nope"], ["build", images, absent / "deeper/a.rec"],
                      ["verify", packed["rec"], "--source", absent]):
        document = imgpack_json(*arguments, code=2)
        assert document["error"]["code"] == "not_found", arguments
        text = imgpack(*arguments, code=2).err
        assert text.startswith("imgpack: ") and ("absent" in text or "nope" in text)
    assert list(tmp_path.iterdir()) == []


def test_verify_goes_on_after_a_bad_file(packed, tmp_path):
    (tmp_path / "bad.rec").write_bytes(packed["rec"].read_bytes()[:-100])
    document = imgpack_json("verify", tmp_path / "bad.rec", packed["rec"], code=1)
    assert [file["good"] for file in document["files"]] == [False, True] and document["good"] is False
    assert document["files"][0]["damage_count"] > 0
    mixed = imgpack_json("verify", tmp_path / "absent", tmp_path / "bad.rec", packed["rec"], code=2)
    assert mixed["files"][0]["error"]["code"] == "not_found" and mixed["files"][2]["good"] is True


@pytest.mark.parametrize("command", SUBCOMMANDS)
def test_help(command):
    text = imgpack(command, "--help").out.decode()
    assert command in text
    assert "--json" in text or command == "completion"


def test_version_and_help():
    assert re.fullmatch(r"imgpack \d+\.\d+\.\d+\n", imgpack("--version").out.decode())
    assert set(imgpack_json("--version")["formats"]) == {"rec", "lmdb", "hdf5", "tfrecord"}
    text = imgpack("--help").out.decode()
    assert all(command in text for command in SUBCOMMANDS)


@pytest.mark.parametrize("arguments", [["--version"], ["--help"], ["info"], ["info", "--json"], ["ls"], ["ls", "--json"],
                                       ["verify"], ["verify", "--json"]], ids=" ".join)
def test_output_that_cannot_be_written(arguments, packed):
    arguments = arguments if arguments[0].startswith("--") else [arguments[0], packed["rec"], *arguments[1:]]
    with open("/dev/full", "wb") as full:
        done = subprocess.run([COMMAND, *map(str, arguments)], stdout=full, stderr=subprocess.PIPE, timeout=60)
    assert done.returncode == 3 and b"standard output: cannot write: No space left" in done.stderr
    shell = f'"$0" "$@" >&-'
    done = subprocess.run(["sh", "-c", shell, COMMAND, *map(str, arguments)], stderr=subprocess.PIPE, timeout=60)
    assert done.returncode == 3 and b"standard output: cannot write" in done.stderr


def test_a_closed_standard_output_does_not_end_up_in_the_packed_file(images, packed, tmp_path):
    out = tmp_path / "out.rec"
    done = subprocess.run(["sh", "-c", '"$0" "$@" <&- >&- 2>&-', COMMAND, "build", str(images), str(out), "--progress",
                           "plain"], timeout=60)
    assert done.returncode == 3
    assert out.read_bytes() == packed["rec"].read_bytes()


def test_a_reader_that_goes_away_ends_the_command_quietly(packed):
    process = start("ls", packed["rec"])
    process.stdout.close()
    assert process.wait(60) == -signal.SIGPIPE
    assert process.stderr.read() == b""
    process.stderr.close()


def test_a_build_survives_its_progress_reader(images, packed, tmp_path):
    process = start("build", images, tmp_path / "out.rec", "--progress", "plain")
    process.stderr.close()
    assert b"24 records" in process.stdout.read()
    assert process.wait(60) == 0
    process.stdout.close()
    assert (tmp_path / "out.rec").read_bytes() == packed["rec"].read_bytes()


# completion

def complete(script, *words):
    """What bash offers for the last of `words`."""
    line = f"""source {script}; COMP_WORDS=({' '.join(f"'{word}'" for word in words)}); COMP_CWORD={len(words) - 1}; _imgpack
               printf '%s\\n' "${{COMPREPLY[@]}}" """
    done = subprocess.run(["bash", "-c", line], check=True, capture_output=True, text=True)
    return done.stdout.split()


def test_bash_completion(tmp_path):
    script = tmp_path / "completion.bash"
    script.write_bytes(imgpack("completion", "bash").out)
    assert complete(script, "imgpack", "b") == ["build", "bench"]
    assert set(SUBCOMMANDS) <= set(complete(script, "imgpack", ""))
    assert complete(script, "imgpack", "build", "--sha") == ["--shards", "--shard-size", "--shard"]
    assert complete(script, "imgpack", "build", "--format", "t") == ["tfrecord"]
    assert complete(script, "imgpack", "build", "--on-error", "") == ["stop", "skip"]
    assert complete(script, "imgpack", "bench", "--measure", "r") == ["random"]
    assert complete(script, "imgpack", "completion", "z") == ["zsh"]


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_completions_name_every_command_and_option(shell, tmp_path):
    text = imgpack("completion", shell).out.decode()
    assert all(command in text for command in SUBCOMMANDS)
    assert all(option in text for option in ("shard-size", "overwrite", "metadata"))
    if shutil.which(shell):
        (tmp_path / "script").write_text(text)
        subprocess.run([shell, "-n", tmp_path / "script"], check=True)
