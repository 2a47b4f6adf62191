"""Makes a large folder of images out of a small one, by hard links.

    many_copies.py IMAGES OUT COUNT

Every file below IMAGES is linked COUNT times as OUT/CLASS/NUMBER_NAME, CLASS being the folder that it lies in. OUT must
be on the same file system, or the files are copied once.
"""
import os
import shutil
import sys
from pathlib import Path


def main():
    images, out, count = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
    for path in sorted(images.rglob("*")):
        if not path.is_file():
            continue
        folder = out / path.parent.name
        folder.mkdir(parents=True, exist_ok=True)
        first = folder / f"0_{path.name}"
        try:
            os.link(path, first)
        except OSError:
            shutil.copyfile(path, first)
        for number in range(1, count):
            os.link(first, folder / f"{number}_{path.name}")


if __name__ == "__main__":
    main()
