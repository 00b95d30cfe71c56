"""Looks for many texts in the bytes of large files, all of them in one pass.

A file may hold only a part of a text, if the rest was overwritten or a page cuts it. So a long text
is searched for in slices, each by itself: a part of 47 bytes holds at least one whole slice. The
search uses the texts themselves, because a hash cannot be searched for at every place of a file.
Never here: which files are searched, or what follows from a find.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

TEXT_BYTES_MIN = 6
"""Shorter texts occur in any large file by chance: four given bytes occur in 1.5 % of files of 64
MB."""
_SLICE_BYTES = 24
_WHOLE_BYTES_MAX = 32

_CHUNK_BYTES = 1 << 18
_TOLD_BYTES = 256 << 20
_WORD_BYTES = 8
_BUCKET_BITS = 22
_PREFIX_MASK = np.uint64((1 << 8 * TEXT_BYTES_MIN) - 1)
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
"""An odd number that spreads prefixes evenly: 2**64 over the golden ratio."""

_SHIFT = np.uint64(64 - _BUCKET_BITS)

_log = logging.getLogger(__name__)


class TextSearch:
    """Texts to search for: in UTF-8, as JSON writes them, and as Python keeps them in memory.

    Args:
        texts: the texts, searched line by line; lines shorter than ``TEXT_BYTES_MIN`` are left out.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        lines = {line.strip() for text in texts for line in text.splitlines()}
        slices = {line: frozenset(_slices(line)) for line in lines}
        self._slices = {line: parts for line, parts in slices.items() if parts}
        self._all_slices = frozenset[bytes]().union(*self._slices.values())
        self._lengths: dict[bytes, set[int]] = {}
        """Slices by their prefix: thousands of texts may begin alike, and their slices have few
        lengths."""
        for part in self._all_slices:
            self._lengths.setdefault(part[:TEXT_BYTES_MIN], set()).add(len(part))
        prefixes = b"".join(prefix.ljust(_WORD_BYTES, b"\0") for prefix in self._lengths)
        self._are_buckets = np.zeros(1 << _BUCKET_BITS, dtype=np.bool_)
        self._are_buckets[_buckets(np.frombuffer(prefixes, dtype="<u8"))] = True

    def __len__(self) -> int:
        """Number of different texts that are searched for."""
        return len(self._slices)

    def texts_with(self, slices: Collection[bytes]) -> set[str]:
        """Texts that contain one of these slices."""
        return {line for line, own in self._slices.items() if not own.isdisjoint(slices)}

    def found_in(self, paths: Iterable[Path]) -> set[bytes]:
        """Slices that one of these files contains; a missing file contains none."""
        texts: set[bytes] = set()
        for path in paths:
            if self._all_slices:
                self._search(path, texts)
        return texts

    def _search(self, path: Path, texts: set[bytes]) -> None:
        overlap, told = b"", 0
        for read_bytes, chunk in _chunks(path):
            content = overlap + chunk
            self._search_bytes(content, texts)
            overlap = content[-_WHOLE_BYTES_MAX:]
            if read_bytes - told >= _TOLD_BYTES:
                told = read_bytes
                _log.info("%s: searched %d MiB for what was erased", path, read_bytes >> 20)

    def _search_bytes(self, content: bytes, texts: set[bytes]) -> None:
        """Check each place of the bytes: eight bytes form one number, at each of eight offsets."""
        padded = content + bytes(2 * _WORD_BYTES)
        for first in range(_WORD_BYTES):
            count = -(-(len(content) - first) // _WORD_BYTES)
            if count <= 0:
                return
            words = np.frombuffer(padded, dtype="<u8", offset=first, count=count)
            # With tens of thousands of texts one word in a hundred is in a bucket by chance.
            for number in np.flatnonzero(self._are_buckets.take(_buckets(words))).tolist():
                place = number * _WORD_BYTES + first
                prefix = content[place : place + TEXT_BYTES_MIN]
                for length in self._lengths.get(prefix, ()):
                    part = content[place : place + length]
                    if part in self._all_slices:
                        texts.add(part)


def _buckets(words: NDArray[np.uint64]) -> NDArray[np.int64]:
    buckets = words & _PREFIX_MASK
    buckets *= _FACTOR
    buckets >>= _SHIFT
    return buckets.view(np.int64)  # signed, as numpy needs them for a look-up


def _slices(line: str) -> Iterator[bytes]:
    for form in _forms(line):
        if len(form) <= _WHOLE_BYTES_MAX:
            yield from [form] * (len(form) >= TEXT_BYTES_MIN)
            continue
        starts = [*range(0, len(form) - _SLICE_BYTES, _SLICE_BYTES), len(form) - _SLICE_BYTES]
        yield from (form[first : first + _SLICE_BYTES] for first in starts)


def _forms(line: str) -> set[bytes]:
    """Bytes of a text in every encoding in which it may be kept."""
    in_json = (json.dumps(line, ensure_ascii=escaped)[1:-1] for escaped in (True, False))
    forms = {spelling.encode("utf-8", "surrogatepass") for spelling in (line, *in_json)}
    if not line.isascii():
        in_memory = "latin-1" if max(line) <= "\xff" else "utf-16-le"
        forms.add(line.encode(in_memory, "surrogatepass"))
    return forms


def _chunks(path: Path) -> Iterator[tuple[int, bytes]]:
    """Chunks of a file, each with the number of bytes read so far."""
    try:
        file = path.open("rb")
    except FileNotFoundError:
        return
    with file:
        read_bytes = 0
        while chunk := file.read(_CHUNK_BYTES):
            read_bytes += len(chunk)
            yield read_bytes, chunk
