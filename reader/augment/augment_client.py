"""What the tests against torchvision share: steps as the program reads them, its answers, our random numbers, and
torchvision's own transforms running on these."""
import contextlib
import math
import struct
import subprocess

import numpy
import torch
from torchvision.transforms import functional as F
from torchvision.transforms import transforms as T

INTERPOLATIONS = ("nearest", "box", "bilinear", "hamming", "bicubic", "lanczos")
DTYPES = (torch.uint8, torch.float32, torch.float16, torch.bfloat16)
JPEG, PNG, RAW = 1, 2, 16


def mode(interpolation):
    return T.InterpolationMode(INTERPOLATIONS[interpolation])


class Step:
    """A step as the program reads it, with the torchvision transform that it stands for."""

    def __init__(self, kind, values, transform=None):
        self.kind, self.values, self.transform = kind, values, transform

    def encoded(self):
        values = [float(v) for v in self.values]
        return struct.pack("<L12d", self.kind, *values, *[0.0] * (12 - len(values)))

    def __str__(self):
        return f"{self.kind}{tuple(self.values)}"


class ResizedCrop(T.RandomResizedCrop):
    """The fallback may round a side to 0, of which torchvision makes a black image."""

    def forward(self, image):
        i, j, h, w = self.get_params(image, self.scale, self.ratio)
        if h == 0 or w == 0:
            raise ValueError("sides must be > 0")
        return F.resized_crop(image, i, j, h, w, self.size, self.interpolation)


def resized_crop(size, scale=(0.08, 1.0), ratio=(3 / 4, 4 / 3), interpolation=2):
    return Step(0, [*size, *scale, *ratio, interpolation],
                ResizedCrop(size, scale, ratio, mode(interpolation)))


def resize(size, interpolation=2):
    whole = isinstance(size, int)
    return Step(1, [size, 0, 0, interpolation] if whole else [0, *size, interpolation],
                T.Resize(size, mode(interpolation)))


def center_crop(size):
    return Step(2, size, T.CenterCrop(size))


def random_crop(size, padding=0, pad_if_needed=False, fill=(0, 0, 0)):
    return Step(3, [*size, padding, pad_if_needed, *fill],
                T.RandomCrop(size, padding or None, pad_if_needed, fill))


def flip(p=0.5):
    return Step(4, [p], T.RandomHorizontalFlip(p))


def jitter(brightness=0, contrast=0, saturation=0, hue=0):
    values = [brightness, contrast, saturation, hue]
    return Step(5, values, T.ColorJitter(*values))


def grayscale(p=1):
    return Step(6, [p], T.RandomGrayscale(p))


def normalize(mean, std):
    return Step(7, [*mean, *std], T.Normalize(mean, std))


def erasing(p=0.5, scale=(0.02, 0.33), ratio=(0.3, 3.3), value=(0, 0, 0), noise=False):
    return Step(8, [p, *scale, *ratio, *value, noise],
                T.RandomErasing(p, scale, ratio, "random" if noise else list(map(float, value))))


def mix_up(alpha, p=1):
    return Step(9, [alpha, p])


def cut_mix(alpha, p=1):
    return Step(10, [alpha, p])


class Program:
    def __init__(self, path):
        self.process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, command, steps, size, rest, dtype=0, layout=0, key=1, record=0):
        head = struct.pack("<2L", command, len(steps)) + b"".join(step.encoded() for step in steps)
        self.process.stdin.write(head + struct.pack("<2L2Q2L", dtype, layout, key, record, *size) + rest)
        self.process.stdin.flush()

    def line(self):
        return self.process.stdout.readline().decode().rstrip("\n")

    def make(self, steps, size, codec, payload, index=False, **where):
        """The finished image as a tensor [3, H, W], or the reason why there is none."""
        self.ask(0, steps, size, struct.pack("<3L", codec, index, len(payload)) + payload, **where)
        answer = self.line()
        if not answer.startswith("ok "):
            return answer
        height, width = map(int, answer.split()[1:])
        dtype = DTYPES[where.get("dtype", 0)]
        data = bytearray(self.process.stdout.read(height * width * 3 * torch.tensor([], dtype=dtype).element_size()))
        values = torch.frombuffer(data, dtype=dtype)
        if where.get("layout", 0) == 0:
            return values.reshape(3, height, width)
        return values.reshape(height, width, 3).permute(2, 0, 1)

    def lines(self, command, steps, size, count, **where):
        self.ask(command, steps, size, struct.pack("<L", count), **where)
        return [self.line() for _ in range(count)]

    def change_colors(self, ops, pixels):
        """What each of the operations (kind, factor) makes of an array [height, width, 3]."""
        height, width = pixels.shape[:2]
        rest = struct.pack("<L", len(ops)) + b"".join(struct.pack("<Lf", kind, factor) for kind, factor in ops)
        self.ask(3, [], (width, height), rest + pixels.tobytes())
        for _ in ops:
            yield numpy.frombuffer(self.process.stdout.read(pixels.size), numpy.uint8).reshape(pixels.shape)

    def close(self):
        self.process.stdin.close()
        return self.process.wait() == 0


def philox(counter, key):
    """Philox4x32-10 on four words and a key of 64 bits."""
    c, k0, k1 = list(counter), key & 0xFFFFFFFF, key >> 32
    for _ in range(10):
        a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [b >> 32 ^ c[1] ^ k0, b & 0xFFFFFFFF, a >> 32 ^ c[3] ^ k1, a & 0xFFFFFFFF]
        k0, k1 = k0 + 0x9E3779B9 & 0xFFFFFFFF, k1 + 0xBB67AE85 & 0xFFFFFFFF
    return c


class Stream:
    """RandomStream of random_stream.h."""

    def __init__(self, key, item, operation):
        self.key, self.item, self.operation = key, item, operation
        self.number, self.words = 0, []

    def block(self):
        counter = self.item & 0xFFFFFFFF, self.item >> 32, self.operation, self.number
        self.number += 1
        return philox(counter, self.key)

    def next_64(self):
        if not self.words:
            words = self.block()
            self.words = [words[0] | words[1] << 32, words[2] | words[3] << 32]
        return self.words.pop(0)

    def uniform(self, low=0.0, high=1.0):
        return low + (high - low) * ((self.next_64() >> 11) * 2.0**-53)

    def below(self, count):
        return self.next_64() * count >> 64

    def noise(self, count):
        """normal_noise.h."""
        values = []
        for _ in range((count + 3) // 4):
            words = self.block()
            for first, second in (words[:2], words[2:]):
                radius = math.sqrt(-2 * math.log(first * 2.0**-32 + 2.0**-33))
                values += [radius * math.cos(second * 2.0**-31 * math.pi), radius * math.sin(second * 2.0**-31 * math.pi)]
        return torch.tensor(values[:count], dtype=torch.float32)


class Number(float):
    def item(self):
        return float(self)


class Draws:
    """Stands in for torch where the transforms draw their parameters: the same code, our numbers, in double precision."""
    float32 = torch.float32

    def __init__(self, stream, single):
        self.stream, self.single = stream, single

    def rand(self, _):
        return self.stream.uniform()

    def randint(self, low, high, size):
        return numpy.array(low + self.stream.below(high - low))

    def randperm(self, n):
        order = list(range(n))
        for i in range(n - 1):
            j = i + self.stream.below(n - i)
            order[i], order[j] = order[j], order[i]
        return order

    def tensor(self, values):
        return torch.tensor(values) if isinstance(values, list) else values

    def log(self, values):
        return [math.log(v) for v in values]

    def exp(self, value):
        return Number(math.exp(value))

    def empty(self, size, dtype=None):
        draws = self

        class Empty:
            def uniform_(self, low, high):
                value = draws.stream.uniform(low, high)
                return Number(numpy.float32(value) if draws.single else value)

            def normal_(self):
                stream = Stream(draws.stream.key, draws.stream.item, draws.stream.operation | 1 << 31)
                return stream.noise(math.prod(size)).reshape(size)

        return Empty()


@contextlib.contextmanager
def drawing(stream, single):
    T.torch = Draws(stream, single)
    try:
        yield
    finally:
        T.torch = torch


def torchvision(steps, image, dtype, key, record):
    """[3, H, W] from a Pillow image; the steps with torchvision's code and our random numbers."""
    kinds = [step.kind for step in steps]
    for place, step in enumerate(steps):
        if step.kind >= 7 and not torch.is_tensor(image):
            image = to_tensor(image, dtype)
        operation = step.kind << 16 | kinds[:place].count(step.kind)
        with drawing(Stream(key, record, operation), single=step.kind == 5):
            image = step.transform(image)
    if not torch.is_tensor(image):
        image = to_tensor(image, dtype)
    return image.to(DTYPES[dtype])


def to_tensor(image, dtype):
    pixels = F.pil_to_tensor(image)
    return pixels if dtype == 0 else pixels.to(torch.float32).div(255)
