"""docs/guide.md: its commands and programs run as they stand, in their order, on images that the test makes."""
import os
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

from conftest import make_images

ROOT = Path(__file__).parents[2]
BLOCKS = re.findall(r"^```(sh|python)\n(.*?)^```$", (ROOT / "docs" / "guide.md").read_text(), re.MULTILINE | re.DOTALL)

# Debian 12's torchrun does not start with its Python 3.11; ranks are started as it would start them.
TORCHRUN = """
import os, socket, subprocess, sys
assert sys.argv[1] == "--nproc_per_node"
ranks = int(sys.argv[2])
with socket.socket() as probe:
    probe.bind(("127.0.0.1", 0))
    port = probe.getsockname()[1]
common = {"WORLD_SIZE": ranks, "LOCAL_WORLD_SIZE": ranks, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
processes = [subprocess.Popen([sys.executable, *sys.argv[3:]],
                              env={**os.environ, **{k: str(v) for k, v in {**common, "RANK": r, "LOCAL_RANK": r}.items()}})
             for r in range(ranks)]
sys.exit(max(process.wait() for process in processes))
"""


def make_shards(images, folder):
    """Two tars as WebDataset has them: N.jpg and N.cls."""
    folder.mkdir()
    files = sorted(path for path in (images / "train").rglob("*") if path.suffix.lower() in (".jpg", ".jpeg"))
    assert len(files) >= 4
    for shard in range(2):
        with tarfile.open(folder / f"train-{shard:06}.tar", "w") as tar:
            for number, path in enumerate(files[shard::2]):
                label = folder / "label"
                label.write_text(str(number % 3))
                tar.add(path, f"{shard}{number:04}.jpg")
                tar.add(label, f"{shard}{number:04}.cls")
    label.unlink()


def test_everything_in_the_guide_runs(tmp_path):
    assert sum(kind == "sh" for kind, _ in BLOCKS) >= 6 and sum(kind == "python" for kind, _ in BLOCKS) >= 3
    make_images(tmp_path / "imagenet", per_class=12)
    make_shards(tmp_path / "imagenet", tmp_path / "shards")
    shutil.copy(ROOT / "examples" / "train.py", tmp_path)
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "imgpack").symlink_to(os.path.abspath(os.environ["IMGPACK_COMMAND"]))
    # A script, not a link: the interpreter of a virtual environment finds its packages by where it lies.
    (programs / "python").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    (programs / "python").chmod(0o755)
    (programs / "torchrun").write_text(f"#!{sys.executable}\n{TORCHRUN}")
    (programs / "torchrun").chmod(0o755)
    environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"}
    python = ""
    for kind, text in BLOCKS:
        if kind == "python":
            python += text + "\n"
            continue
        done = subprocess.run(["sh", "-eu", "-c", text], cwd=tmp_path, env=environment, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=300)
        assert done.returncode == 0, f"{text}\n{done.stdout}"
    (tmp_path / "guide.py").write_text(f'if __name__ == "__main__":\n{_indented(python)}')
    subprocess.run([sys.executable, "guide.py"], cwd=tmp_path, env=environment, check=True, timeout=300)


def _indented(text):
    return "".join(f"    {line}" if line.strip() else line for line in text.splitlines(keepends=True))
