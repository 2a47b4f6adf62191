#!/usr/bin/env python3
"""Compares finished images with what torchvision 0.14 makes of Pillow 9.4's images, bit for bit, and what is drawn at
random with torchvision's distributions.

    augment_torchvision_test.py PROGRAM [--images N] [--seed S]

PROGRAM is augment_print. Images go through every way of decoding; lists of steps are random, in any order that is
allowed. torchvision's code runs on our random numbers, so that its parameters must be ours, too.
"""
import argparse
import io
import math
import random
import sys

sys.dont_write_bytecode = True

import numpy
import PIL
import torch
import torchvision as torchvision_package
from PIL import Image, ImageFile
from scipy import stats
from torchvision.transforms import functional as F
from torchvision.transforms import transforms as T

from augment_client import (JPEG, PNG, RAW, Program, center_crop, cut_mix, erasing, flip, grayscale, jitter, mix_up,
                            normalize, random_crop, resize, resized_crop, torchvision)

ImageFile.MAXBLOCK = 1 << 20  # the encoder's buffer, too small for noise otherwise


def picture(rand, noise, width, height):
    kind = rand.randrange(3)
    if kind == 0:
        return Image.fromarray(noise.integers(0, 256, (height, width, 3), numpy.uint8))
    small = noise.integers(0, 256, (max(1, height // 9), max(1, width // 9), 3), numpy.uint8)
    image = Image.fromarray(small).resize((width, height), Image.BICUBIC)
    if kind == 1:
        return image
    grain = noise.integers(0, 30, (height, width, 3))
    return Image.fromarray((numpy.asarray(image) * 0.88 + grain).astype(numpy.uint8))


class Record:
    """An image in one of the ways in which records hold it."""
    KINDS = ("raw", "png", "jpeg indexed", "jpeg whole", "jpeg progressive")

    def __init__(self, rand, noise, size):
        self.size = size
        self.kind = rand.choice(self.KINDS)
        self.image = picture(rand, noise, *size)
        self.codec, self.index = {"raw": RAW, "png": PNG}.get(self.kind, JPEG), self.kind == "jpeg indexed"
        if self.codec == RAW:
            self.payload = self.image.tobytes()
            return
        file = io.BytesIO()
        if self.codec == PNG:
            self.image.save(file, "PNG")
        else:
            self.image.save(file, "JPEG", quality=rand.choice((75, 90, 98)), subsampling=rand.randrange(3),
                            progressive=self.kind.endswith("progressive"))
        self.payload = file.getvalue()
        self.image = Image.open(io.BytesIO(self.payload)).convert("RGB")


def side(rand, most):
    return rand.randrange(1, most + 1) if rand.randrange(4) else rand.randrange(1, 9)


def random_geometry(rand):
    kind = rand.randrange(7)
    size = side(rand, 90), side(rand, 90)
    if kind < 2:
        scale = rand.choice(((0.08, 1.0), (0.5, 1.0), (1.5, 3.0), (0.01, 0.02)))
        ratio = rand.choice(((3 / 4, 4 / 3), (0.1, 0.2), (1.0, 1.0), (2.0, 9.0)))
        return resized_crop(size, scale, ratio, rand.randrange(6))
    if kind == 2:
        return resize(size if rand.randrange(2) else side(rand, 90), rand.randrange(6))
    if kind == 3:
        return center_crop(size)
    if kind == 4:
        return random_crop(size, rand.choice((0, 0, 1, 4, 50)), True, tuple(rand.randrange(256) for _ in range(3)))
    return flip(rand.choice((0, 0.5, 1)))


def random_color(rand):
    if rand.randrange(3) == 0:
        return grayscale(rand.choice((0.5, 1)))
    return jitter(*(rand.choice((0, 0.1, 0.4, 0.8, 3)) for _ in range(3)), rand.choice((0, 0, 0.1, 0.5)))


COMMON = (
    lambda rand: [resized_crop((64, 48)), flip()],
    lambda rand: [resize(60), center_crop((48, 48))],
    lambda rand: [random_crop((40, 40), 0, True), flip()],
    lambda rand: [random_crop((32, 32), 4, True), flip()],
    lambda rand: [resized_crop((50, 50)), flip(), jitter(0.4, 0.4, 0.4, 0.1), grayscale(0.2)],
)


def random_steps(rand, dtype):
    if rand.randrange(2):
        steps = rand.choice(COMMON)(rand)
    else:
        steps = [random_color(rand) if rand.randrange(4) == 0 else random_geometry(rand)
                 for _ in range(rand.randrange(5))]
    if dtype and rand.randrange(3):
        if rand.randrange(2):
            steps.append(normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)))
        else:
            steps.append(normalize([rand.uniform(-1, 1) for _ in range(3)], [rand.uniform(0.01, 2) for _ in range(3)]))
    if rand.randrange(4) == 0:
        steps.append(erasing(rand.choice((0.5, 1)), value=[rand.randrange(256) for _ in range(3)]))
    return steps


def same(got, expected):
    """Bits, so that -0 is not 0."""
    kind = {1: torch.uint8, 2: torch.int16, 4: torch.int32}[expected.element_size()]
    return got.shape == expected.shape and bool((got.contiguous().view(kind) == expected.contiguous().view(kind)).all())


def check_pixels(program, rand, noise, count):
    wrong, kinds, refused = 0, dict.fromkeys(Record.KINDS, 0), 0
    for number in range(count):
        record = Record(rand, noise, (side(rand, 250), side(rand, 250)))
        dtype, layout = rand.randrange(4), rand.randrange(2)
        steps = random_steps(rand, dtype)
        key, item = rand.getrandbits(64), rand.getrandbits(40)
        got = program.make(steps, record.size, record.codec, record.payload, record.index, dtype=dtype, layout=layout,
                           key=key, record=item)
        try:
            expected = torchvision(steps, record.image, dtype, key, item)
        except (ValueError, ZeroDivisionError) as error:
            expected = str(error)
        if isinstance(expected, str) or isinstance(got, str):
            # What torchvision refuses or we do: sides that round to 0 or grow beyond all bounds.
            refused += 1
            agree = isinstance(got, str) == isinstance(expected, str) or "must be > 0" in str(expected)
        else:
            agree = same(got, expected)
            kinds[record.kind] += 1
        if not agree:
            wrong += 1
            if wrong <= 5:
                print(f"DIFFERENT {record.kind} {record.size} dtype {dtype} layout {layout}:",
                      *steps, got if isinstance(got, str) else "", expected if isinstance(expected, str) else "")
                if not isinstance(got, str) and not isinstance(expected, str):
                    print(got.shape, expected.shape, got.shape == expected.shape and (got != expected).sum())
    print(f"{count} images compared {kinds}, {refused} refused, {wrong} differ")
    return wrong == 0 and all(kinds.values()) and refused < count // 20


def check_colors(program, rand, noise):
    """Operations on colors with many factors; hue on every color that there is."""
    adjust = (F.adjust_brightness, F.adjust_contrast, F.adjust_saturation, F.adjust_hue)
    good, count = True, 0

    def compare(ops, pixels):
        nonlocal good, count
        image = Image.fromarray(pixels)
        for (kind, factor), got in zip(ops, program.change_colors(ops, pixels)):
            # The same single-precision number.
            expected = adjust[kind](image, float(numpy.float32(factor)))
            count += 1
            if (got != numpy.asarray(expected)).any():
                print(f"DIFFERENT: operation {kind} with factor {factor} on {image.size}")
                good = False

    for _ in range(30):
        image = picture(rand, noise, side(rand, 200), side(rand, 200))
        ops = [(kind, rand.choice((0, 1, rand.uniform(0, 1), rand.uniform(1, 3), rand.uniform(1, 100))))
               for kind in range(3) for _ in range(6)]
        ops += [(3, rand.choice((-0.5, 0, 0.5, rand.uniform(-0.5, 0.5)))) for _ in range(6)]
        compare(ops, numpy.asarray(image))
    every = numpy.arange(1 << 24, dtype=numpy.uint32).reshape(4096, 4096)
    every = numpy.stack([every >> 16, every >> 8 & 255, every & 255], 2).astype(numpy.uint8)
    # All hues go to all others: the hue after the shift decides the rest, and it takes every value for each color's
    # saturation and brightness.
    compare([(3, 0), (3, 0.37)], every)
    print(f"{count} operations on colors compared")
    return good


def check_noise(program, rand, noise):
    """Where the rectangle is and what is around it exactly, its values as closely as logarithms and sines agree."""
    good = True
    for number in range(20):
        record = Record(rand, noise, (60, 50))
        steps = [normalize((0.5, 0.5, 0.5), (0.25, 0.25, 0.25)), erasing(1, noise=True)]
        dtype = 1 + number % 3
        got = program.make(steps, record.size, record.codec, record.payload, record.index, dtype=dtype,
                           layout=number % 2, key=3, record=number)
        expected = torchvision(steps, record.image, dtype, 3, number)
        good &= torch.allclose(got.float(), expected.float(), rtol=0, atol=(1e-5, 2e-3, 2e-2)[dtype - 1])
    print("noise", "agrees" if good else "DIFFERS")
    return good


def agrees(name, ours, theirs):
    """Whether two samples can be of one distribution; the numbers are the same on every run."""
    p = stats.ks_2samp(ours, theirs).pvalue
    if p < 1e-3:
        print(f"DIFFERENT distribution of {name}: p = {p}")
    return p >= 1e-3


def check_distributions(program, count=4000):
    """Against get_params of the unchanged transforms."""
    torch.manual_seed(7)
    good = True
    image = torch.zeros(3, 300, 400)
    for scale, ratio in (((0.08, 1.0), (3 / 4, 4 / 3)), ((0.5, 2.0), (0.5, 3.0)), ((0.9, 1.0), (4.0, 5.0))):
        lines = program.lines(1, [resized_crop((8, 8), scale, ratio)], (400, 300), count)
        ours = numpy.array([line.split(";")[0].split() for line in lines], dtype=float)  # x, y, width, height
        theirs = numpy.array([T.RandomResizedCrop.get_params(image, scale, ratio) for _ in range(count)], dtype=float)
        for place, name in enumerate(("left", "top", "width", "height")):
            good &= agrees(f"RandomResizedCrop {scale} {ratio} {name}", ours[:, place], theirs[:, [1, 0, 3, 2][place]])
    lines = program.lines(1, [erasing(1)], (400, 300), count)
    ours = numpy.array([line.split(";")[2].split() for line in lines], dtype=float)
    theirs = numpy.array([T.RandomErasing.get_params(image, (0.02, 0.33), (0.3, 3.3), [0.0])[:4] for _ in range(count)],
                         dtype=float)
    for place, name in enumerate(("left", "top", "width", "height")):
        good &= agrees(f"RandomErasing {name}", ours[:, place], theirs[:, [1, 0, 3, 2][place]])
    good &= check_jitter(program, count) and check_crops_and_coins(program, count) and check_mixes(program, count)
    print(f"distributions {'agree' if good else 'DIFFER'}")
    return good


def check_jitter(program, count):
    transform = T.ColorJitter(0.4, 1.5, 0.2, 0.1)
    params = [T.ColorJitter.get_params(transform.brightness, transform.contrast, transform.saturation, transform.hue)
              for _ in range(count)]
    lines = program.lines(1, [jitter(0.4, 1.5, 0.2, 0.1)], (40, 30), count, key=2)
    ops = [line.split(";")[1].split() for line in lines]
    ours = [dict(zip(map(int, op[::2]), map(float, op[1::2]))) for op in ops]
    good = all(agrees(f"ColorJitter factor {kind}", [op[kind] for op in ours], [p[1 + kind] for p in params])
               for kind in range(4))
    orders = numpy.zeros(256)
    for op in ops:
        orders[sum(int(kind) << 2 * i for i, kind in enumerate(op[::2]))] += 1
    seen = orders[orders > 0]
    p = stats.chisquare(seen).pvalue
    if len(seen) != 24 or p < 1e-3:
        print(f"DIFFERENT: {len(seen)} orders of ColorJitter, p = {p}")
        good = False
    return good


def check_crops_and_coins(program, count):
    lines = program.lines(1, [random_crop((10, 8))], (29, 17), count, key=5)
    places = numpy.array([line.split(";")[0].split()[:2] for line in lines], dtype=int)
    good = True
    for axis, positions in ((0, 29 - 8 + 1), (1, 17 - 10 + 1)):
        p = stats.chisquare(numpy.bincount(places[:, axis], minlength=positions)).pvalue
        good &= len(numpy.bincount(places[:, axis])) == positions and p >= 1e-3
    for probability in (0.0, 0.2, 1.0):
        lines = program.lines(1, [grayscale(probability)], (4, 4), count, key=6)
        hits = sum(line.split(";")[1] != "" for line in lines)
        good &= stats.binomtest(hits, count, probability).pvalue >= 1e-3 if 0 < probability < 1 else (
            hits == probability * count)
    if not good:
        print("DIFFERENT places of RandomCrop, or probabilities")
    return good


def check_mixes(program, count):
    good = True
    for alpha in (0.01, 0.2, 1.0, 4.0):
        theirs = torch._sample_dirichlet(torch.tensor([[alpha, alpha]] * count, dtype=torch.float64))[:, 0].numpy()
        lines = program.lines(2, [mix_up(alpha)], (20, 10), count, key=4)
        ours = numpy.array([float(line.split()[1]) for line in lines])
        # Nearer to 0 and 1 than single precision tells, torch bounds what it draws.
        good &= bool(((ours >= 0) & (ours <= 1)).all()) and agrees(
            f"MixUp {alpha}", *(numpy.clip(shares, 1e-7, 1 - 1e-7) for shares in (ours, theirs)))
        lines = program.lines(2, [cut_mix(alpha)], (40, 30), count, key=8)
        boxes = [reference_box(40, 30, share) for share in theirs]
        good &= agrees(f"CutMix {alpha} share", [float(line.split()[1]) for line in lines],
                       [1 - w * h / 1200 for _, _, w, h in boxes])
        for place in range(4):
            good &= agrees(f"CutMix {alpha} box {place}", [int(line.split()[2 + place]) for line in lines],
                           [box[place] for box in boxes])
    unmixed = sum(line.startswith("0 ") for line in program.lines(2, [mix_up(1, 0.3)], (20, 10), count, key=4))
    return good and stats.binomtest(unmixed, count, 0.7).pvalue >= 1e-3


def reference_box(width, height, share):
    """From RandomCutmix of torchvision's references/classification/transforms.py: x, y, width, height."""
    r_x, r_y = int(torch.randint(width, (1,))), int(torch.randint(height, (1,)))
    r = 0.5 * math.sqrt(1.0 - share)
    r_w_half, r_h_half = int(r * width), int(r * height)
    x1, y1 = max(r_x - r_w_half, 0), max(r_y - r_h_half, 0)
    x2, y2 = min(r_x + r_w_half, width), min(r_y + r_h_half, height)
    return x1, y1, x2 - x1, y2 - y1


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--images", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    assert PIL.__version__.startswith("9.4."), f"Pillow {PIL.__version__} is not the one that this test is about"
    assert torchvision_package.__version__.startswith("0.14."), torchvision_package.__version__
    rand = random.Random(options.seed)
    noise = numpy.random.default_rng(options.seed)
    program = Program(options.program)
    results = [check_pixels(program, rand, noise, options.images), check_colors(program, rand, noise),
               check_noise(program, rand, noise), check_distributions(program)]
    results.append(program.close())
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
