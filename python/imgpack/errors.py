"""What imgpack raises: one class for each kind of error, all of them :class:`Error`."""
from __future__ import annotations

from typing import Optional


class Error(Exception):
    """An error of imgpack; ``str(error)`` says where and what in one sentence.

    Attributes:
        code: the kind of error, as in the command's JSON documents: ``"damaged"``, ``"not_found"``, ...
        message: what went wrong, without the place.
        file: the file where it happened, as the caller named it, or None.
        record: the record's number in that file, or None.
        offset: the byte in that file, or None.
    """

    code: str = "error"

    def __init__(self, text: str, message: Optional[str] = None, file: Optional[str] = None,
                 record: Optional[int] = None, offset: Optional[int] = None) -> None:
        super().__init__(text)
        self.message = text if message is None else message
        self.file = file
        self.record = record
        self.offset = offset

    def __str__(self) -> str:
        return str(self.args[0])


class InvalidArgumentError(Error, ValueError):
    """The caller asked for something that makes no sense."""

    code = "invalid_argument"


class NotFoundError(Error, FileNotFoundError):
    """A named file, record, split or key does not exist."""

    code = "not_found"


class AlreadyExistsError(Error, FileExistsError):
    """An output exists, and ``overwrite`` was not given."""

    code = "already_exists"


class BusyError(Error):
    """Another process is building the same output."""

    code = "busy"


class RefusedError(Error):
    """An input was looked at and can't be packed."""

    code = "refused"


class DamagedError(Error):
    """A packed file does not hold what it promises."""

    code = "damaged"


class UnsupportedError(Error):
    """This build, or this version, lacks a part; the message names it."""

    code = "unsupported"


class InputOutputError(Error, OSError):
    """The operating system failed: disk full, read error, permission."""

    code = "io"


class OutOfMemoryError(Error, MemoryError):
    """Memory ran out, or a size is beyond a stated limit."""

    code = "out_of_memory"


_CLASSES = {kind.code: kind for kind in Error.__subclasses__()}


def _make(code: str, text: str, message: str, file: Optional[str], record: Optional[int],
          offset: Optional[int]) -> Error:
    """The exception for an error of the library; called by the extension module."""
    return _CLASSES[code](text, message, file, record, offset)
