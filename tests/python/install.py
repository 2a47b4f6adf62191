"""Builds the wheel and installs it into two fresh virtual environments, FOLDER/clean and FOLDER/with-torch.

    install.py SOURCE FOLDER [SETTING...]        settings as pip takes them for the build: -Ccmake.build-type=...
"""
import shutil
import subprocess
import sys
import venv
from pathlib import Path


def make_environment(folder, **options):
    shutil.rmtree(folder, ignore_errors=True)
    venv.create(folder, with_pip=True, **options)
    return folder / "bin" / "python"


def pip(python, *arguments):
    subprocess.run([python, "-m", "pip", "--disable-pip-version-check", *arguments], check=True)


def main(source, folder, *settings):
    folder = Path(folder)
    wheels = folder / "wheels"
    shutil.rmtree(wheels, ignore_errors=True)
    clean = make_environment(folder / "clean")
    pip(clean, "install", "-q", "pip>=23.1")  # the first that takes settings as wheels want them
    pip(clean, "wheel", "-v", "--no-deps", "-w", wheels, f"-Cbuild-dir={folder}", *settings, source)
    wheel, = wheels.glob("imgpack-*.whl")
    pip(clean, "install", wheel)
    pip(make_environment(folder / "with-torch", system_site_packages=True), "install", "--no-deps", wheel)


if __name__ == "__main__":
    main(*sys.argv[1:])
