"""A virtual environment with what pip can install of the peers, beside the packages of the system's Python.

Everything is pinned and installed without dependencies: nothing may bring another torch or NumPy than the system's.
"""
import importlib.util
import json
import subprocess
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent
#: Not installed unless asked for by name.
LARGE = {"dali": "not tried, as its wheels are hundreds of megabytes; `run.py --install dali` tries"}
REASONS = "not-installed.json"


def requirements():
    """Path of the requirements of each package (Peer.package)."""
    return {path.stem.removeprefix("requirements-"): path for path in sorted(HERE.glob("requirements-*.txt"))}


def install(folder, keys, seconds):
    """Makes the environment, or goes on with it. keys: whose requirements; none: all but large ones.

    What could not be installed is written down there, for reasons().
    """
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, system_site_packages=True, with_pip=True)
    _share_imgpack(folder)
    failures = reasons(folder)
    for key, path in requirements().items():
        if key in keys or (not keys and key not in LARGE):
            print(f"installing {path.name}", flush=True)
            failures[key] = _pip(python, path, seconds)
        elif key in LARGE:
            failures.setdefault(key, LARGE[key])
        if failures.get(key):
            print(f"  {failures[key]}", flush=True)
    (folder / REASONS).write_text(json.dumps(failures, indent=1) + "\n")


def reasons(folder):
    """Why a key's packages are not there, as far as an installation into that folder has found out."""
    path = folder / REASONS
    return json.loads(path.read_text()) if path.exists() else {}


def _share_imgpack(folder):
    """Makes the imgpack of this interpreter importable there; it is in no registry."""
    found = importlib.util.find_spec("imgpack")
    if found is not None:
        site, = folder.glob("lib/python*/site-packages")
        (site / "imgpack_of_the_caller.pth").write_text(str(Path(found.origin).parents[1]) + "\n")


def _pip(python, path, seconds):
    """None, or why it failed."""
    command = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps",
               "--no-build-isolation", "-r", path]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return f"pip was not done with {path.name} after {seconds:g} s"
    if done.returncode == 0:
        return None
    lines = [line for line in done.stderr.splitlines() if line.lower().startswith("error")] or done.stderr.splitlines()
    return f"pip: {lines[-1] if lines else f'exit status {done.returncode}'}"

