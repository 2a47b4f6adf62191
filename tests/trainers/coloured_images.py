"""A small folder of images whose classes a network can tell apart within seconds: each has a colour of its own."""
from pathlib import Path

import numpy as np
from PIL import Image

CLASSES = {"blue": (60, 90, 190), "green": (70, 170, 80), "grey": (125, 125, 125), "red": (190, 70, 60)}
TRAIN, VAL = 24, 9  # images of a class


def make_images(folder):
    """folder/{train,val}/<class>/<number>.jpg, the same bytes on every run."""
    noise = np.random.default_rng(5)
    for split, count in (("train", TRAIN), ("val", VAL)):
        for name, colour in CLASSES.items():
            (Path(folder) / split / name).mkdir(parents=True)
            for number in range(count):
                height, width = noise.integers(40, 60, 2)
                light = noise.uniform(0.6, 1.3) * np.linspace(0.8, 1.2, width)[None, :, None]
                pixels = np.array(colour) * light + noise.normal(0, 25, (height, width, 3))
                image = Image.fromarray(pixels.clip(0, 255).astype(np.uint8))
                image.save(Path(folder) / split / name / f"{number}.jpg", quality=90)
    return Path(folder)
