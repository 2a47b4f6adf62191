"""Prints what run.sh has measured as one table, beside what is wanted.

    summary.py FOLDER_OF_JSON
"""
import json
import sys
from pathlib import Path

WANTED = {
    "loader-random-256": "130,000, under 1 core and 1,000 MB",
    "loader-random-1024": "200,000, better 300,000, under 1 core",
    "loader-paced-256": "under 1 core at 130,000",
    "loader-paced-1024": "under 1 core at 200,000",
    "loader-paced-1024-aim": "under 1 core at 300,000",
}


def read(folder, name):
    path = folder / f"{name}.json"
    return json.loads(path.read_text()) if path.is_file() else None


def main():
    folder = Path(sys.argv[1])
    print(f"{'what':<34} {'images/s':>10} {'CPU cores':>10} {'device MB':>10}   wanted")
    for path in sorted(folder.glob("loader-*.json")) + sorted(folder.glob("images-*.json")):
        data = json.loads(path.read_text())
        megabytes = data.get("device_mb", data.get("device_bytes", 0) / 1e6)
        print(f"{path.stem:<34} {data['images_per_second']:>10,.0f} {data['cpu_cores']:>10.2f} {megabytes:>10,.0f}   "
              f"{WANTED.get(path.stem, '')}")
    for batch in (256, 1024):
        one, two = read(folder, f"loader-random-{batch}"), read(folder, f"loader-random-{batch}-x2")
        if one and two:
            name = f"two GPUs beside one, batch {batch}"
            print(f"{name:<34} {two['images_per_second'] / one['images_per_second']:>10.2f} times{'':>18}1.9 times")
    for way in (read(folder, "transport") or {}).get("results", []):
        name = f"{way['way']}, batch {way['batch']}" + (f", {way['threads']} threads" if way["threads"] else "")
        print(f"{name:<44.44} {way['gb_per_s']:>5.1f} GB/s {way['of_peak']:>7.1%} of the peak, {way['cpu_cores']:.2f} cores")
    for name in ("nvjpeg", "pytorch"):
        data = read(folder, name)
        for result in (data or {}).get("results", []):
            rate = result.get("images_per_s", result.get("images_per_second", 0))
            print(f"{name + ': ' + str(result.get('way', '')):<34.34} {rate:>10,.0f}{'':>24}batch {result.get('batch')}")
    training = read(folder, "training")
    for model, rates in (training or {}).get("images_per_second", {}).items():
        for way, rate in rates.items():
            share = rate / rates["synthetic"]
            print(f"{model + ': ' + way:<34} {rate:>10,.0f}{'':>24}{share:.1%} of synthetic, wanted 97 %")


if __name__ == "__main__":
    main()
