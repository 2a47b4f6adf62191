#!/usr/bin/env python3
"""Compares decoding and transcoding with Pillow 9.4: which files decode, to which pixels, and which way up.

    image_decode_pillow_test.py PROGRAM [--seed S]

PROGRAM is image_decode_print. The files are made here; with IMGPACK_TEST_DATA set, those of that folder's odd/ and
imagenet-sample/ take part as well. A file that Pillow decodes must decode to the same pixels, and one that it refuses
must be refused. EXCEPTIONS lists by name what differs and why; an entry that matches nothing is a failure too.
"""
import argparse
import collections
import hashlib
import io
import json
import logging
import os
import pathlib
import random
import re
import struct
import subprocess
import sys
import warnings

sys.dont_write_bytecode = True

import PIL
from PIL import Image, ImageOps

from image_decode_files import all_files, outside_files

# What is refused although Pillow decodes it: (name, what we say, why).
REFUSED = [
    (r"^gif cut by 2$", "Failed to read", "giflib wants the end of the last block, Pillow does not"),
    (r"^bmp .* [48] bits, palette of", "Pillow misreads", "Pillow takes these indices for another number of bits"),
    (r"^tiff .* LAB |^tiff by hand .* photometric 8 ", "colour space", "CIE L*a*b* needs colour management"),
    (r"^tiff .* YCbCr |^tiff by hand .* photometric 6 ", "not JPEG-coded",
     "Pillow's reading of such samples depends on their compression"),
    (r"^tiff by hand .* 8x4 photometric 2 extra \(1,\)", "multiplied by their alpha", "they are not divided again"),
    (r"^tiff by hand < 16x1 photometric 0", "inverted gray", "Pillow does not invert 16 bits"),
    (r"^tiff by hand < 12x1", "gray samples", "12 bits"),
]
# What decodes although Pillow refuses it: (name, what Pillow says, why).
ACCEPTED = [
    (r"^tiff by hand .* False 2$", "unknown raw mode", "Pillow lacks bit-reversed variants of some layouts"),
    (r"^large arithmetic jpeg$", "broken data stream", "Pillow's blocks of 64 KiB end in the middle of such files"),
]


# What is not transcoded although Pillow decodes it: libjpeg-turbo warns about the pixels' data.
UNTRANSCODABLE = r"changed bits|before its end|^odd/flipped_bits|^odd/exif_broken"


class Program:
    def __init__(self, path, command):
        self.process = subprocess.Popen([path, command], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE)

    def ask(self, data):
        self.process.stdin.write(struct.pack("<L", len(data)) + data)
        self.process.stdin.flush()
        return self.process.stdout.readline().decode().rstrip("\n").split("\t")

    def decode(self, data):
        """(status, size, orientation, reason, pixels)"""
        status, width, height, orientation, reason = self.ask(data)
        size = int(width), int(height)
        pixels = self.process.stdout.read(size[0] * size[1] * 3) if status == "ok" else b""
        return status, size, int(orientation), reason, pixels

    def transcode(self, data):
        """(status, same coefficients, reason, new file)"""
        status, size, same, reason = self.ask(data)
        return status, same == "1", reason, self.process.stdout.read(int(size)) if status == "ok" else b""

    def close(self):
        self.process.stdin.close()
        printed = self.process.stderr.read()
        return self.process.wait() == 0 and printed == b"" or printed


def pillow_decodes(data):
    """(size, pixels, orientation) or the reason of the refusal."""
    try:
        with Image.open(io.BytesIO(data)) as image:
            kind = image.format
            rgb = image.convert("RGB")
            pixels = rgb.tobytes()
        if kind not in ("JPEG", "MPO", "PNG", "WEBP", "BMP", "TIFF", "GIF"):
            return f"it is a {kind} image"
    except Exception as error:  # whatever comes out of there is a refusal
        return f"{type(error).__name__}: {error}"
    return rgb.size, pixels, pillow_orientation(data, kind)


def pillow_orientation(data, kind):
    """The orientation that exif_transpose applies; TIFF files are turned when they are loaded."""
    if kind == "TIFF":
        return 1
    try:
        with Image.open(io.BytesIO(data)) as image:
            orientation = image.getexif().get(0x0112)
    except Exception:
        return 1
    return {n: n for n in range(2, 9)}.get(orientation, 1)


class Comparison:
    def __init__(self, program):
        self.program = Program(program, "decode")
        self.counts = collections.Counter()
        self.failures = 0
        self.used = set()

    def fail(self, name, data, text):
        self.failures += 1
        if self.failures <= 60:
            print(f"DIFFERENT {name} ({len(data)} bytes): {text}")

    def excepted(self, name, said, exceptions):
        for pattern, text, why in exceptions:
            if re.search(pattern, name) and text in said:
                self.used.add(pattern)
                self.counts[f"differ: {why}"] += 1
                return True
        return False

    def compare(self, name, data):
        pillow = pillow_decodes(data)
        status, size, orientation, reason, pixels = self.program.decode(data)
        self.counts["compared"] += 1
        if isinstance(pillow, str):
            if status == "ok":
                if not self.excepted(name, pillow, ACCEPTED):
                    self.fail(name, data, f"Pillow refuses it ({pillow})")
            elif not reason:
                self.fail(name, data, "refused without a reason")
            return
        self.counts["decoded by Pillow"] += 1
        if status != "ok":
            if not self.excepted(name, reason, REFUSED):
                self.fail(name, data, f"refused: {status}, {reason}")
        elif size != pillow[0]:
            self.fail(name, data, f"size {size}, Pillow says {pillow[0]}")
        elif pixels != pillow[1]:
            wrong = sum(a != b for a, b in zip(pixels, pillow[1]))
            self.fail(name, data, f"{wrong} of {len(pixels)} bytes differ, first at "
                                  f"{next(i for i, (a, b) in enumerate(zip(pixels, pillow[1])) if a != b)}")
        elif orientation != pillow[2]:
            self.fail(name, data, f"orientation {orientation}, Pillow says {pillow[2]}")
        else:
            self.counts["equal"] += 1

    def finish(self):
        for pattern, _, _ in REFUSED + ACCEPTED:
            if pattern not in self.used:
                self.fail(pattern, b"", "an exception that is none")
        printed = self.program.close()
        if printed is not True:
            self.fail("standard error", printed, repr(printed[:300]))
        for what, count in self.counts.items():
            print(f"  {count} {what}")


def check_expectations(program):
    """The outside files' digests, as their own list has them."""
    folder = pathlib.Path(os.environ["IMGPACK_TEST_DATA"])
    expected = json.loads((folder / "odd-expected.json").read_text())
    decoder = Program(program, "decode")
    failures = 0
    for name, entry in expected.items():
        status, _, _, reason, pixels = decoder.decode((folder / "odd" / name).read_bytes())
        wanted = entry["pillow"] == "decodes"
        if (status == "ok") != wanted or wanted and hashlib.sha256(pixels).hexdigest() != entry["rgb_sha256"]:
            failures += 1
            print(f"EXPECTED OTHERWISE {name}: {status} {reason}, {entry}")
    decoder.close()
    print(f"  {len(expected)} odd files, {failures} not as expected")
    return failures


def check_transcoding(program, files, command):
    """A transcoded file has the source's coefficients and markers, and shows the same pixels wherever it is read."""
    transcoder = Program(program, command)
    failures, counts = 0, collections.Counter()
    refused = collections.Counter()
    source_bytes = new_bytes = 0
    for name, data in files:
        if data[:3] != b"\xff\xd8\xff":
            continue
        status, same, reason, new = transcoder.transcode(data)
        pillow = pillow_decodes(data)
        if status != "ok":
            refused[reason] += 1
            if not isinstance(pillow, str) and not re.search(UNTRANSCODABLE, name):
                failures += 1
                print(f"NOT TRANSCODED {name}: {reason}")
            continue
        counts["transcoded"] += 1
        after = pillow_decodes(new)
        problems = []
        if not same:
            problems.append("other coefficients")
        if not isinstance(pillow, str) and pillow != after:
            problems.append("other pixels")
        if b"\xff\xc0" not in new and b"\xff\xc1" not in new:
            problems.append("not baseline")
        if application_segments(data) != application_segments(new):
            problems.append("other markers")
        if transcoder.transcode(data)[3] != new:
            problems.append("other bytes on a second run")
        djpeg = subprocess.run(["djpeg", "-pnm"], input=new, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if djpeg.returncode != 0 or djpeg.stderr:
            problems.append(f"djpeg: {djpeg.stderr[:100]}")
        elif not isinstance(pillow, str) and Image.open(io.BytesIO(data)).mode != "CMYK":
            if Image.open(io.BytesIO(djpeg.stdout)).convert("RGB").tobytes() != pillow[1]:
                problems.append("djpeg shows other pixels")
        if problems:
            failures += 1
            print(f"TRANSCODED WRONGLY {name}: {', '.join(problems)}")
        if name.startswith("imagenet-sample"):
            source_bytes += len(data)
            new_bytes += len(new)
    printed = transcoder.close()
    if printed is not True:
        failures += 1
        print(f"printed: {printed[:300]!r}")
    print(f"  {command}: {counts['transcoded']} transcoded, {sum(refused.values())} refused, {failures} failures")
    if source_bytes:
        print(f"  {command}: {new_bytes} of {source_bytes} bytes, {new_bytes / source_bytes:.4f}")
    return failures + (counts["transcoded"] < 100)


def application_segments(data):
    """APPn and COM segments up to the first scan, in order."""
    at, found = 2, []
    while at + 4 <= len(data):
        if data[at] != 0xFF or data[at + 1] in (0xFF, 0):
            at += 1
            continue
        marker = data[at + 1]
        if marker == 0xDA:
            break
        if marker == 0xD9 or 0xD0 <= marker <= 0xD8:
            found = [] if marker == 0xD9 else found
            at += 2
            continue
        length = struct.unpack(">H", data[at + 2:at + 4])[0]
        if 0xE0 <= marker <= 0xEF or marker == 0xFE:
            found.append(data[at:at + 2 + length])
        at += 2 + length
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    assert PIL.__version__.startswith("9.4."), f"Pillow {PIL.__version__} is not the one that this test is about"
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    files = list(all_files(random.Random(options.seed)))
    outside = list(outside_files())
    if not outside:
        print("IMGPACK_TEST_DATA is not set: no real files take part")
    comparison = Comparison(options.program)
    for name, data in files + outside:
        comparison.compare(name, data)
    comparison.finish()
    failures = comparison.failures
    if outside:
        failures += check_expectations(options.program)
    for command in ("baseline", "restart"):
        failures += check_transcoding(options.program, files + outside, command)
    print(f"{failures} failures")
    return 1 if failures or comparison.counts["equal"] < 1000 else 0


if __name__ == "__main__":
    sys.exit(main())
