#!/usr/bin/env python3
"""Compares Resizer with Pillow 9.4's Image.resize, byte by byte.

    resize_pillow_test.py PROGRAM [--resizes N] [--seed S]

PROGRAM is resize_print. Sizes, boxes, filters and the rows that are passed at a time are random; many sizes are tiny,
many ratios are extreme, many boxes have fractional edges, and the pixels are noise, black and white noise (which makes
sums leave the range) or smooth.
"""
import argparse
import random
import struct
import subprocess
import sys

sys.dont_write_bytecode = True

import numpy
import PIL
from PIL import Image

FILTERS = (Image.NEAREST, Image.BOX, Image.BILINEAR, Image.HAMMING, Image.BICUBIC, Image.LANCZOS)  # Interpolation
BATCH_BYTES = 16 << 20
MAX_PIXELS = 250_000


def random_side(rand):
    kind = rand.randrange(10)
    if kind < 3:
        return rand.randrange(1, 9)
    if kind < 6:
        return rand.randrange(1, 65)
    if kind < 9:
        return rand.randrange(1, 401)
    return rand.randrange(1, 3001)


def random_edges(rand, size, result):
    """Begin and end of a box within [0, size], as single-precision numbers."""
    kind = rand.randrange(6)
    if kind < 2:
        return 0.0, float(size)
    if kind == 2 and size >= result:  # what keeps its size
        begin = rand.randrange(size - result + 1)
        return float(begin), float(begin + result)
    if kind == 3:
        begin = rand.randrange(size)
        return float(begin), float(rand.randrange(begin + 1, size + 1))
    step = rand.choice((0.5, 0.25, 1 / 3, 1e-4))
    while True:
        begin, end = sorted(numpy.float32(min(rand.random() * size // step * step, size)) for _ in range(2))
        if begin < end <= size:
            return float(begin), float(end)


def random_pixels(rand, noise, width, height):
    kind = rand.randrange(4)
    if kind == 0:
        return noise.integers(0, 2, (height, width, 3), numpy.uint8) * 255
    if kind == 1:
        ramp = numpy.arange(width) * 3 + numpy.arange(height)[:, None] * 2
        return numpy.stack([ramp, 255 - ramp, ramp // 2], 2).astype(numpy.uint8)
    return noise.integers(0, 256, (height, width, 3), numpy.uint8)


class Request:
    def __init__(self, rand, noise):
        while True:
            self.source = random_side(rand), random_side(rand)
            self.size = random_side(rand), random_side(rand)
            if self.source[0] * self.source[1] <= MAX_PIXELS and self.size[0] * self.size[1] <= MAX_PIXELS:
                break
        if rand.randrange(8) == 0:  # one pass or none
            keep = rand.randrange(3)
            self.size = tuple(s if keep in (axis, 2) else r for axis, (s, r) in enumerate(zip(self.source, self.size)))
        (left, right), (top, bottom) = (random_edges(rand, s, r) for s, r in zip(self.source, self.size))
        self.box = left, top, right, bottom
        self.filter = rand.randrange(len(FILTERS))
        self.batch = rand.choice((1, 2, 3, 7, 8, 16, self.source[1]))
        self.pixels = random_pixels(rand, noise, *self.source)

    def encoded(self):
        return struct.pack("<6L4f", *self.source, *self.size, self.filter, self.batch, *self.box) + self.pixels.tobytes()

    def pillow(self):
        return Image.fromarray(self.pixels).resize(self.size, FILTERS[self.filter], self.box).tobytes()

    def __str__(self):
        return f"{self.source} to {self.size}, box {self.box}, filter {self.filter}, {self.batch} rows at a time"


def differences(program, requests):
    """Prints the first ones, returns how many requests were answered wrongly."""
    feed = b"".join(request.encoded() for request in requests)
    answer = subprocess.run([program], input=feed, stdout=subprocess.PIPE, check=True).stdout
    wrong = at = 0
    for request in requests:
        expected = request.pillow()
        got = answer[at:at + len(expected)]
        at += len(expected)
        if got != expected:
            wrong += 1
            if wrong <= 5:
                places = [i for i, (a, b) in enumerate(zip(got, expected)) if a != b]
                print(f"DIFFERENT {request}: {len(places)} of {len(expected)} bytes, first at {places[:1]}")
    assert at == len(answer), "the program answered with another number of bytes"
    return wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--resizes", type=int, default=20000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    assert PIL.__version__.startswith("9.4."), f"Pillow {PIL.__version__} is not the one that this test is about"
    rand = random.Random(options.seed)
    noise = numpy.random.default_rng(options.seed)

    wrong = compared = 0
    per_filter = [0] * len(FILTERS)
    while compared < options.resizes:
        requests, size = [], 0
        while compared + len(requests) < options.resizes and size < BATCH_BYTES:
            requests.append(Request(rand, noise))
            size += requests[-1].pixels.nbytes
            per_filter[requests[-1].filter] += 1
        wrong += differences(options.program, requests)
        compared += len(requests)
    print(f"{compared} resizes compared (by filter: {per_filter}), {wrong} differ")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
