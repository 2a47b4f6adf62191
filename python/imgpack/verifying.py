"""Checking packed datasets."""
from __future__ import annotations

import tempfile
from dataclasses import dataclass
from typing import List, Optional

from . import _imgpack
from ._imgpack import Damage, SourceReport
from .packing import PathLike, ProgressCallback


@dataclass(frozen=True)
class VerifyReport:
    """What verify() found.

    Attributes:
        records: checked.
        payload_bytes: read and compared with their checksums.
        damage_count: findings, all of them.
        damage: the first findings, ordered by file, record and offset.
        source: the comparison with the source; None where none was named, or where damage was found before.
    """

    records: int
    payload_bytes: int
    damage_count: int
    damage: List[Damage]
    source: Optional[SourceReport] = None

    @property
    def good(self) -> bool:
        """Nothing was found."""
        return self.damage_count == 0 and (self.source is None or self.source.good)


def verify(path: PathLike, *, source: Optional[PathLike] = None, decode: bool = False, threads: int = 0,
           max_damage: int = 1000, max_pixels: int = _imgpack.DEFAULT_MAX_PIXELS,
           progress: Optional[ProgressCallback] = None) -> VerifyReport:
    """Checks every promise that a packed file makes: structure, index, checksums, keys, labels, counts.

    Args:
        path: packed file, manifest, pattern, or name of shards.
        source: also compare every record with this folder, tar or manifest.
        decode: also decode every record, and compare segment indexes with their JPEGs.
        threads: at work; 0: as many as this process may use.
        max_damage: findings that are kept; all are counted.
        max_pixels: larger images are not decoded, and reported.
        progress: called with a Progress some times a second, on this thread. What it raises ends the check.

    Damage is reported, not raised. Raises NotFoundError, InputOutputError or UnsupportedError.
    """
    limits = _imgpack.VerifyLimits(threads, max_damage, max_pixels)
    report = _imgpack.verify_file(path, limits, progress)
    if decode and report.damage_count == 0:  # a damaged file may not even open
        report = _imgpack.verify_decoding(path, limits, progress)
    compared = None
    if source is not None and report.damage_count == 0:
        compared = _imgpack.verify_against(path, source, tempfile.gettempdir(), limits, progress)
    return VerifyReport(report.records, report.payload_bytes, report.damage_count, report.damage, compared)
