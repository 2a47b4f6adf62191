"""Reads datasets with plain h5py, as any Python program would, and shows them to HDF5's own tools.

Usage: h5py_test.py MAKE_SAMPLE
"""

import json
import pathlib
import subprocess
import sys
import tempfile

import h5py
import numpy as np


def check(condition, what):
    if not condition:
        sys.exit(f"failed: {what}")


def check_records(file, folder):
    classes = [name.decode() for name in file["classes"][()]]
    check(classes == ["n01440764", "n01443537", "Bärlapp"], f"classes {classes}")
    encoded, offsets, labels = file["encoded"], file["offsets"][()], file["labels"][()]
    keys, key_offsets = file["keys"][()], file["key_offsets"][()]
    check(encoded.dtype == np.uint8 and labels.dtype == np.int64 and offsets.dtype == np.uint64, "types")
    check(len(labels) == 7 and len(offsets) == 8 and offsets[0] == 0 and offsets[-1] == len(encoded), "shapes")
    for i, label in enumerate(labels):
        key = keys[key_offsets[i] : key_offsets[i + 1]].tobytes().decode()
        image = encoded[offsets[i] : offsets[i + 1]].tobytes()
        check(key.split("/")[0] == classes[label], f"label of record {i}")
        check(image == (folder / "images" / key).read_bytes(), f"image of record {i}")
    check(list(file["widths"]) == [40 + i for i in range(7)], "widths")
    check(set(file["heights"]) == {30} and set(file["channels"]) == {3} and set(file["codecs"]) == {1}, "sizes")
    check(len(file["checksums"]) == 7 and sorted(file["key_order"]) == list(range(7)), "checksums and key order")


def check_fields(file):
    check(list(file["fields/id"]) == [1000 * i for i in range(7)], "scalar field")
    box = file["fields/box"]
    check(box.shape == (7, 2, 2) and np.array_equal(box[3], [[30, 31], [32, 33]]), "field with a shape")
    bounds, text = file["field_offsets/caption"][()], file["fields/caption"][()]
    check(text[bounds[4] : bounds[5]].tobytes() == b"picture number 4", "bytes field")


def check_description(file):
    description = json.loads(file["imgpack"][()].tobytes())
    check(description["records"] == 7 and description["classes"][0]["words"] == "tench", "description")
    check(file["imgpack"].attrs["format_version"] == 1, "format version")
    unsealed = [name for name, item in file.items() if isinstance(item, h5py.Dataset) and "xxh3_64" not in item.attrs]
    check(unsealed == ["encoded"], f"digests missing: {unsealed}")
    check(all(item.chunks is None for item in file.values() if isinstance(item, h5py.Dataset)), "contiguous")


def check_images(folder):
    with h5py.File(folder / "raw.h5", "r") as file:
        images = file["images"]
        check("encoded" not in file and "offsets" not in file, "payloads are there once")
        check(images.shape == (5, 20, 30, 3) and images.dtype == np.uint8 and images.chunks is None, "array of images")
        for i in range(5):
            pixels = np.fromfile(folder / "pixels" / str(i), np.uint8).reshape(20, 30, 3)
            check(np.array_equal(images[i], pixels), f"image {i}")
        check(np.array_equal(images[1:4, 5, 7], [images[i][5, 7] for i in (1, 2, 3)]), "slices")
        check(list(file["labels"]) == [0, 1, 0, 1, 0] and set(file["codecs"]) == {16}, "labels and codecs")
    with h5py.File(folder / "empty.h5", "r") as file:
        check(file["images"].shape == (0, 20, 30, 3) and "encoded" not in file, "array of no images")


def check_tools(folder):
    for name, dataspace in (("raw", "( 5, 20, 30, 3 )"), ("empty", "( 0, 20, 30, 3 )"), ("sample", None)):
        done = subprocess.run(["h5dump", "-H", folder / f"{name}.h5"], check=True, capture_output=True, text=True)
        check(done.stderr == "", f"h5dump says of {name}.h5: {done.stderr}")
        check(dataspace is None or f"SIMPLE {{ {dataspace} / {dataspace} }}" in done.stdout, f"h5dump of {name}.h5")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        subprocess.run([sys.argv[1], name], check=True)
        with h5py.File(folder / "sample.h5", "r") as file:
            check_records(file, folder)
            check_fields(file)
            check_description(file)
        check_images(folder)
        check_tools(folder)


if __name__ == "__main__":
    main()
