"""py-lmdb, mdb_stat, mdb_dump and Pillow read what imgpack writes.

Usage: foreign_readers_test.py LMDB_SAMPLE, the program that writes the dataset and its content as JSON.
"""

import io
import json
import pathlib
import struct
import subprocess
import sys
import tempfile

import lmdb
from PIL import Image

NAMED = [b"imgpack.keys", b"imgpack.lookup", b"imgpack.meta", b"imgpack.records", b"imgpack.segments"]


def check(condition, what):
    if not condition:
        sys.exit(f"FAILED: {what}")


def check_with_py_lmdb(path, expected):
    env = lmdb.open(str(path), subdir=False, readonly=True, lock=False, max_dbs=8)
    databases = {name: env.open_db(name, create=False) for name in NAMED}
    with env.begin() as txn:
        names = [key for key, _ in txn.cursor()]
        check(names == [b"%08d" % i for i in range(len(expected))] + NAMED, "keys of the main database")
        for i, record in enumerate(expected):
            key = b"%08d" % i
            check(txn.get(key).hex() == record["payload"], f"payload of record {i}")
            check(txn.get(key, db=databases[b"imgpack.keys"]).hex() == record["key"], f"key of record {i}")
            segments = txn.get(key, db=databases[b"imgpack.segments"])
            check((segments or b"").hex() == record["segments"], f"segments of record {i}")
            label, _, size, _, width = struct.unpack_from("<qQQQI", txn.get(key, db=databases[b"imgpack.records"]))
            check((label, size, width) == (record["label"], len(record["payload"]) // 2, record["width"]),
                  f"row of record {i}")
        lookup = list(txn.cursor(db=databases[b"imgpack.lookup"]))
        numbers = sorted(struct.unpack("<Q", value)[0] for _, value in lookup)
        check(numbers == list(range(len(expected))), "the lookup's record numbers")
        meta = databases[b"imgpack.meta"]
        dataset = json.loads(txn.get(b"dataset", db=meta))
        check(dataset["records"] == len(expected), "record count in the description")
        check(json.loads(txn.get(b"layout", db=meta)) == {"key_digits": 8, "version": 1}, "layout")
        last = len(expected) - 1
        image = Image.open(io.BytesIO(txn.get(b"%08d" % last)))
        image.load()
        check(image.size == (32 + last, 24), "size of the decoded JPEG")
    env.close()


def check_can_be_written(path, copy):
    """Stock LMDB must find the file sound enough to go on writing into it."""
    copy.write_bytes(path.read_bytes())
    with lmdb.open(str(copy), subdir=False, lock=False, map_size=1 << 28) as env:
        for i in range(200):
            with env.begin(write=True) as txn:
                txn.put(b"x%05d" % i, b"value" * 300)
        with env.begin() as txn:
            check(txn.get(b"x00199") == b"value" * 300, "an added entry")
            check(txn.stat()["entries"] == 200 + 9 + len(NAMED), "entries after adding some")


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    check(done.returncode == 0, f"{command}: {done.stderr}")
    return done.stdout


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "out.lmdb"
        listing = pathlib.Path(folder) / "out.json"
        run(sys.argv[1], str(path), str(listing))
        expected = json.loads(listing.read_text())
        check_with_py_lmdb(path, expected)
        check_can_be_written(path, pathlib.Path(folder) / "copy.lmdb")
        stat = run("mdb_stat", "-n", "-e", "-a", "-ff", str(path))
        for name in NAMED:
            check(f"Status of {name.decode()}" in stat, f"{name} in mdb_stat")
        check(f"Entries: {len(expected) + len(NAMED)}" in stat, "entry count in mdb_stat")
        check(f"Map size: {path.stat().st_size}" in stat, "map size in mdb_stat")
        dump = run("mdb_dump", "-n", "-s", "imgpack.keys", str(path))
        check(expected[0]["key"] in dump, "a key in mdb_dump")
    print("ok")


if __name__ == "__main__":
    main()
