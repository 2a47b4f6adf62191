#!/usr/bin/env python3
"""Resizer beside Pillow, on the same pixels in the same run, one thread.

    resize_benchmark.py PROGRAM [--seconds S]

PROGRAM is resize_benchmark. Each contestant repeats a resize for S seconds, three times in turns, and its shortest call
counts. Pillow's call includes making the result's image object; ours includes the filter tables where "new tables" says so.
"""
import argparse
import struct
import subprocess
import sys
import time

import numpy
from PIL import Image

FILTERS = {"nearest": (0, Image.NEAREST), "box": (1, Image.BOX), "bilinear": (2, Image.BILINEAR),
           "hamming": (3, Image.HAMMING), "bicubic": (4, Image.BICUBIC), "lanczos": (5, Image.LANCZOS)}
# name, source, box, result, filter, whether tables may be kept
CASES = [
    ("500x375", (500, 375), None, (224, 224), "bilinear", True),
    ("500x375, new tables", (500, 375), None, (224, 224), "bilinear", False),
    ("crop 480x350, new tables", (480, 350), None, (224, 224), "bilinear", False),
    ("crop 300x300, new tables", (300, 300), None, (224, 224), "bilinear", False),
    ("crop 260x190, new tables", (260, 190), None, (224, 224), "bilinear", False),
    ("crop 120x100, new tables", (120, 100), None, (224, 224), "bilinear", False),
    ("box 200x200 of 500x375", (500, 375), (120, 80, 320, 280), (224, 224), "bilinear", False),
    ("500x375, shorter side 256", (500, 375), None, (341, 256), "bilinear", True),
    ("4000x3000, shorter side 256", (4000, 3000), None, (341, 256), "bilinear", True),
    ("500x375", (500, 375), None, (224, 224), "box", True),
    ("500x375", (500, 375), None, (224, 224), "hamming", True),
    ("500x375", (500, 375), None, (224, 224), "bicubic", True),
    ("crop 300x300, new tables", (300, 300), None, (224, 224), "bicubic", False),
    ("500x375", (500, 375), None, (224, 224), "lanczos", True),
    ("500x375", (500, 375), None, (224, 224), "nearest", True),
]


def pillow_microseconds(image, size, pillow_filter, box, seconds):
    best = 1e9
    begin = time.perf_counter()
    while time.perf_counter() - begin < seconds:
        before = time.perf_counter()
        image.resize(size, pillow_filter, box)
        best = min(best, time.perf_counter() - before)
    return best * 1e6


def measure(program, case, seconds):
    """Microseconds of Pillow, of ours, of the plain code, and of the tables alone."""
    _, source, box, size, filter_name, keep = case
    number, pillow_filter = FILTERS[filter_name]
    pixels = numpy.random.default_rng(1).integers(0, 256, (source[1], source[0], 3), numpy.uint8)
    image = Image.fromarray(pixels)
    whole = box or (0, 0, *source)
    request = struct.pack("<10L", *source, *size, number, *whole, keep) + pixels.tobytes()
    best = [1e9] * 4
    for _ in range(3):
        pillow = pillow_microseconds(image, size, pillow_filter, box, seconds)
        answer = subprocess.run([program, str(seconds)], input=request, stdout=subprocess.PIPE, check=True).stdout
        best = [min(pair) for pair in zip(best, [pillow] + [float(field) for field in answer.split()])]
    return best


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--seconds", type=float, default=0.2)
    options = parser.parse_args()
    print("| resize | filter | Pillow, us | ours, us | Pillow / ours | plain / ours | tables alone, us |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for case in CASES:
        pillow, ours, plain, tables = measure(options.program, case, options.seconds)
        name, filter_name, size = case[0], case[4], case[3]
        plain_ratio = f"{plain / ours:.1f}" if plain else ""
        print(f"| {name} to {size[0]}x{size[1]} | {filter_name} | {pillow:.0f} | {ours:.1f} | {pillow / ours:.1f} | "
              f"{plain_ratio} | {tables:.1f} |", flush=True)


if __name__ == "__main__":
    main()
