#!/usr/bin/env python3
"""RandomResizedCrop(224) by Pillow beside jpeg_benchmark, on the same crops of the same files, one thread.

    jpeg_benchmark.py PROGRAM FOLDER [--rounds N] [--crops N]

PROGRAM is jpeg_benchmark. Pillow opens the file from memory, converts, crops and resizes, as torchvision does with PIL
images; its results must have the checksums of ours. Half of Pillow's rounds come before the program and half after it;
of each crop the shortest CPU time counts, as in the program.
"""
import argparse
import io
import json
import subprocess
import sys
import time
import zlib

from PIL import Image


def list_crops(options):
    """(file's bytes, box, CRC-32 of our result) of each crop."""
    command = [options.program, options.folder, "--crops", str(options.crops), "--list-crops"]
    files = {}
    crops = []
    for line in subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout.splitlines():
        path, *numbers = line.split("\t")
        x, y, width, height, checksum = map(int, numbers)
        if path not in files:
            with open(path, "rb") as file:
                files[path] = file.read()
        crops.append((files[path], (x, y, x + width, y + height), checksum))
    return crops


def crop_with_pillow(data, box):
    return Image.open(io.BytesIO(data)).convert("RGB").crop(box).resize((224, 224), Image.BILINEAR)


def pillow_seconds(crops, rounds, best):
    for _ in range(rounds):
        for i, (data, box, _) in enumerate(crops):
            begin = time.process_time()
            crop_with_pillow(data, box)
            best[i] = min(best[i], time.process_time() - begin)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("folder")
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--crops", type=int, default=3)
    options = parser.parse_args()

    crops = list_crops(options)
    different = sum(zlib.crc32(crop_with_pillow(data, box).tobytes()) != checksum for data, box, checksum in crops)
    if different:
        sys.exit(f"{different} of {len(crops)} results differ from Pillow's")
    best = [1e9] * len(crops)
    pillow_seconds(crops, (options.rounds + 1) // 2, best)
    command = [options.program, options.folder, "--rounds", str(options.rounds), "--crops", str(options.crops),
               "--only", "crops", "--json"]
    document = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    pillow_seconds(crops, options.rounds // 2, best)

    pillow = len(crops) / sum(best)
    print(f"{len(crops)} crops, the same bytes by Pillow")
    print("| | images/s | of Pillow |\n| --- | --- | --- |")
    print(f"| D: Pillow {Image.__version__} | {pillow:.0f} | 1.00 |")
    for row in document["random crops to 224x224"]:
        print(f"| {row['name']} | {row['images_per_second']:.0f} | {row['images_per_second'] / pillow:.2f} |")


if __name__ == "__main__":
    main()
