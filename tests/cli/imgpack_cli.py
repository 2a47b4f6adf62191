"""Running the built command, and looking at what it did."""
import json
import os
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

COMMAND = os.path.abspath(os.environ["IMGPACK_COMMAND"])
MAKE_IMAGES = os.path.abspath(os.environ["IMGPACK_MAKE_IMAGES"])
MAKE_WRONG_RECORDS = os.path.abspath(os.environ["IMGPACK_MAKE_WRONG_RECORDS"])
TIMEOUT = 240

EXTENSIONS = {"rec": "rec", "lmdb": "lmdb", "hdf5": "hdf5", "tfrecord": "tfrecord"}


@dataclass
class Result:
    code: int
    out: bytes
    err: str

    def json(self):
        """The one JSON document on standard output; anything else there fails."""
        assert self.out.endswith(b"\n")
        return json.loads(self.out.decode("utf-8"), parse_constant=_no_such_constant)


def _no_such_constant(name):
    raise ValueError(f"{name} is not JSON")


def imgpack(*arguments, code=0, **options):
    """Runs `imgpack ARGUMENTS...` and checks its exit code (None: any)."""
    done = subprocess.run([COMMAND, *_texts(arguments)],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, timeout=TIMEOUT,
                          **options)
    result = Result(done.returncode, done.stdout, done.stderr.decode("utf-8", "backslashreplace"))
    if code is not None:
        assert result.code == code, f"exit code {result.code}, not {code}\n{result.out.decode(errors='replace')}\n{result.err}"
    return result


def imgpack_json(*arguments, code=0, **options):
    return imgpack(*arguments, "--json", code=code, **options).json()


def start(*arguments, **options):
    """Starts `imgpack ARGUMENTS...` without waiting for it."""
    return subprocess.Popen([COMMAND, *_texts(arguments)], stdin=subprocess.DEVNULL,
                            **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options})


def start_until(line_start, *arguments, **options):
    """Starts a command with plain progress and returns it once a line of standard error begins with `line_start`."""
    process = start(*arguments, "--progress", "plain", **options)
    for line in process.stderr:
        if line.decode().startswith(line_start):
            return process
    process.wait()
    raise AssertionError(f"the command ended with {process.returncode} before it said '{line_start}'")


def _texts(arguments):
    return [argument if isinstance(argument, (str, bytes)) else str(argument) for argument in arguments]


FORMATS = [name for name, built in imgpack_json("--version")["formats"].items() if built]
assert "rec" in FORMATS


def make_images(folder, classes=3, per_class=6, seed=1):
    subprocess.run([MAKE_IMAGES, str(folder), str(classes), str(per_class), str(seed)], check=True)
    return Path(folder)


def files_below(folder):
    """{relative path: content} of every file below the folder."""
    return {os.fsencode(path.relative_to(folder)): path.read_bytes()
            for path in Path(folder).rglob("*") if path.is_file()}


def companions(out):
    """The names of all files that a packed file at `out` consists of."""
    out = Path(out)
    return sorted(path.name for path in out.parent.iterdir() if path.name.startswith(out.name))


def packed_bytes(out):
    """{name: content} of the packed file and its companions, under names relative to it."""
    out = Path(out)
    return {name[len(out.name):]: (out.parent / name).read_bytes() for name in companions(out)}


def stop(process):
    """Stops a process where it is; it goes on with SIGCONT."""
    process.send_signal(signal.SIGSTOP)
    os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
    return process.poll() is None
