"""Which part of files is in the page cache, and throwing them out of it. Linux only."""
import ctypes
import mmap
import os

_libc = ctypes.CDLL(None, use_errno=True)
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
_libc.mincore.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p]
_libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]


def evict(paths):
    """Asks for all of the files to be dropped; returns the share of their pages that is resident all the same.

    That is what a mapping of a process holds, and everything on tmpfs.
    """
    resident = pages = 0
    for path in paths:
        with open(path, "rb") as file:
            os.fsync(file.fileno())  # only what is written can be dropped
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            size = os.fstat(file.fileno()).st_size
            if size:
                flags = _resident(file.fileno(), size)
                resident += sum(flag & 1 for flag in flags)
                pages += len(flags)
    return resident / pages if pages else 0.0


def _resident(descriptor, size):
    """A byte for each page, whose lowest bit says that it is resident."""
    address = _libc.mmap(None, size, mmap.PROT_READ, mmap.MAP_SHARED, descriptor, 0)
    if address == ctypes.c_void_p(-1).value:
        raise OSError(ctypes.get_errno(), "mmap")
    flags = ctypes.create_string_buffer(-(-size // mmap.PAGESIZE))
    try:
        if _libc.mincore(address, size, flags) != 0:
            raise OSError(ctypes.get_errno(), "mincore")
    finally:
        _libc.munmap(address, size)
    return flags.raw
