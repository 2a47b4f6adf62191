#!/usr/bin/env python3
"""Compares read_image_header() with Pillow 9.4's Image.open, on whole and on damaged files of every type.

    image_header_pillow_test.py PROGRAM [--density N] [--rounds N] [--directories N] [--seed S]

PROGRAM is image_header_print. Base files are made by Pillow and by hand; each is then cut at many lengths, and gets
bytes of its header changed. With IMGPACK_TEST_DATA set, the files of that folder's odd/ and imagenet-sample/ take part
as well. The options ask for more damaged variants of each base file, for a longer search by hand.

Both must agree on whether a file opens, and then on type, size and channels. Accepted differences:
 1. Pillow opens types that are none of ours (a damaged header can look like a TGA or a PCX image).
 2. Pillow takes texts for numbers in TIFF tags (the text "42" as an image width, "LZW" as a compression), and overlooks
    a fraction 0/0 among sample formats.
"""
import argparse
import io
import logging
import os
import pathlib
import random
import struct
import subprocess
import sys
import warnings

sys.dont_write_bytecode = True

import PIL
from PIL import Image

from image_header_files import base_files, random_directories

CODECS = {"JPEG": 1, "MPO": 1, "PNG": 2, "WEBP": 3, "BMP": 4, "TIFF": 5, "GIF": 6}
CHANNELS = {"1": 1, "L": 1, "P": 1, "I": 1, "F": 1, "I;16": 1, "I;16B": 1, "LA": 2, "PA": 2, "RGB": 3, "LAB": 3,
            "CMYK": 4, "RGBA": 4, "RGBX": 4}


def outside_files():
    folder = os.environ.get("IMGPACK_TEST_DATA")
    if not folder:
        print("IMGPACK_TEST_DATA is not set: no real files take part")
        return
    for part in ("odd", "imagenet-sample"):
        for path in sorted((pathlib.Path(folder) / part).rglob("*")):
            if path.is_file():
                yield f"{part}/{path.name}", path.read_bytes()


def damaged(name, data, density, rounds, rand):
    """The file itself; cut at `density` lengths; with 2 * density single bytes changed; changed `rounds` times."""
    yield name, data
    head = min(len(data), 700)
    for length in sorted(rand.sample(range(head), min(head, density))) + [rand.randrange(len(data)) for _ in data[:4]]:
        yield f"{name} cut to {length}", data[:length]
    for at in rand.sample(range(head), min(head, density)):
        for value in (data[at] ^ (1 << rand.randrange(8)), rand.choice((0, 1, 2, 0xFF, data[at] ^ 0xFF))):
            yield f"{name} byte {at} = {value}", data[:at] + bytes([value]) + data[at + 1:]
    for _ in range(rounds):
        changed = bytearray(data)
        for _ in range(rand.randrange(1, 5)):
            if not changed:
                break
            at = rand.randrange(min(len(changed), 400))
            what = rand.randrange(5)
            if what == 0:
                changed[at] ^= 1 << rand.randrange(8)
            elif what == 1:
                changed[at] = rand.randrange(256)
            elif what == 2:
                changed[at:at] = bytes([rand.randrange(256)])
            elif what == 3:
                del changed[at:at + rand.randrange(9)]
            else:
                other = rand.randrange(len(changed))
                changed[at:at + 4] = changed[other:other + 4]
        yield f"{name} changed {bytes(changed[:400]).hex()}", bytes(changed)


def lies_on_its_side(image):
    orientation = image.tag_v2.get(0x0112)
    return isinstance(orientation, int) and 5 <= orientation <= 8


def pillow_says(data):
    """(codec, width, height, channels), "other" for types that are not ours, or the reason why it does not open."""
    try:
        with Image.open(io.BytesIO(data)) as image:
            if image.format not in CODECS:
                return "other"
            width, height = image.size
            if image.format == "TIFF" and lies_on_its_side(image):
                width, height = height, width  # Pillow changes the size when it loads the pixels
            return CODECS[image.format], width, height, CHANNELS[image.mode]
    except Exception as error:  # whatever comes out of there is a refusal
        return f"{type(error).__name__}: {error}"


def agrees(pillow, ours):
    status, codec, width, height, channels, reason = ours
    if isinstance(pillow, tuple):
        if status == "ok":
            return pillow == (int(codec), int(width), int(height), int(channels))
        return "TIFF" in reason and "not a number" in reason  # difference 2
    if pillow == "other":
        return status != "ok"  # difference 1
    return status != "ok" and reason != ""


def ask(program, batch):
    feed = b"".join(struct.pack("<L", len(data)) + data for _, data in batch)
    lines = subprocess.run([program], input=feed, stdout=subprocess.PIPE, check=True).stdout.decode().split("\n")[:-1]
    assert len(lines) == len(batch), "the program died or printed too little"
    return [line.split("\t") for line in lines]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--density", type=int, default=12)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--directories", type=int, default=1500, help="random TIFF directories")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    assert PIL.__version__.startswith("9.4."), f"Pillow {PIL.__version__} is not the one that this test is about"
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    rand = random.Random(options.seed)

    compared = opened = failures = 0
    batch, batch_size = list(random_directories(rand, options.directories)), 0
    def flush():
        nonlocal compared, opened, failures
        for (name, data), ours in zip(batch, ask(options.program, batch)):
            pillow = pillow_says(data)
            compared += 1
            opened += isinstance(pillow, tuple)
            if not agrees(pillow, ours):
                failures += 1
                if failures <= 40:
                    print(f"DIFFERENT {name[:200]} ({len(data)} bytes)\n  Pillow: {pillow}\n  ours:   {ours}")
    for source in (base_files(), outside_files()):
        for name, data in source:
            for variant in damaged(name, data, options.density, options.rounds, rand):
                batch.append(variant)
                batch_size += len(variant[1])
                if batch_size > 16 << 20:
                    flush()
                    batch, batch_size = [], 0
    flush()
    print(f"{compared} files compared, {opened} of them open in Pillow, {failures} judged differently")
    return 1 if failures or opened < 1000 else 0


if __name__ == "__main__":
    sys.exit(main())
