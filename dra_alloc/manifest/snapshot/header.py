"""
The beginning of a snapshot: who made it, of which files and folders, and whether those are still as they were.

A snapshot may come from anywhere and name anything. Of what it names only
regular files of just the size that it says are read, and no more of them than
that; folders are listed, and nothing below them.

Spec: SNAPSHOT-2, SNAPSHOT-3, SNAPSHOT-4, SNAPSHOT-6, SNAPSHOT-7, SNAPSHOT-8.
"""

from __future__ import annotations

import os
import stat
import time
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Final

import msgspec

from dra_alloc._version import __version__
from dra_alloc.manifest.budget import DEFAULT_BUDGET
from dra_alloc.manifest.read.inputs import ENDINGS, STDIN, files_of, folders_of

MAGIC: Final = b"dra-alloc snapshot\n"
FORMAT: Final = 6
_LENGTH: Final = 8
_DIGEST: Final = 16
#: So many bytes of the first line may be wrong before the file is taken for something else.
_DAMAGED_BYTES: Final = 4
#: Of a packed snapshot this much is unpacked to find its header.
_HEADER_BYTES: Final = 1 << 24
#: What changed longer ago than the slowest file system's clock ticks has another time when it changes again.
_TICK_NS: Final = 2_000_000_000
_CHUNK: Final = 1 << 20
#: What decoding raises for bytes that mean nothing: texts that are no UTF-8 among them, and lists without end.
UNDECODABLE: Final = (msgspec.MsgspecError, ValueError, TypeError, OverflowError, RecursionError)
_AGAIN: Final = "make it again: dra-alloc snapshot pack"


class SnapshotError(ValueError):
    """A snapshot that cannot be used; `hint` says what to do."""

    def __init__(self, message: str, hint: str = _AGAIN) -> None:
        super().__init__(message)
        self.hint = hint


class Input(msgspec.Struct, array_like=True, frozen=True):
    """A file that a snapshot was made of; `modified` is 0 where the time of the last change says nothing."""

    path: str
    size: int
    modified: int
    digest: bytes


class Folder(msgspec.Struct, array_like=True, frozen=True):
    """A folder that a snapshot was made of, and the names of its manifests and, with a / behind them, sub-folders."""

    path: str
    names: tuple[str, ...]


class Header(msgspec.Struct, array_like=True):
    """What is known before the rest is looked at; paths are relative to the snapshot."""

    format: int
    version: str
    inputs: list[Input]
    folders: list[Folder]
    size: int
    digest: bytes


class _MadeBy(msgspec.Struct, array_like=True):
    """What headers of all formats begin with; the rest is passed over."""

    format: int
    version: str


def looks_like_snapshot(data: bytes) -> bool:
    """Return whether data is a snapshot, or was one before it was cut or a few bytes of its first line changed."""
    if len(data) < len(MAGIC):
        return bool(data) and MAGIC.startswith(data)
    first = data[: len(MAGIC)]
    return sum(a != b for a, b in zip(first, MAGIC, strict=True)) <= _DAMAGED_BYTES


def framed(header: Header) -> bytes:
    """Return the beginning of a snapshot: the first line, the header with its length, the header's checksum."""
    data = msgspec.msgpack.encode(header)
    return MAGIC + len(data).to_bytes(_LENGTH, "big") + data + digest(data)


def read_header(data: bytes) -> tuple[Header, int]:
    """Return the header of a snapshot, and where the rest begins. Raises: SnapshotError."""
    if not data.startswith(MAGIC):
        raise SnapshotError("a damaged snapshot: its first line is not as it was written")
    start = len(MAGIC) + _LENGTH
    end = start + int.from_bytes(data[len(MAGIC) : start], "big")
    text = data[start:end]
    sound = len(text) == end - start and digest(text) == data[end : end + _DIGEST]
    # Nothing is made of bytes that are not as they were written, but for who wrote them.
    try:
        made_by = msgspec.msgpack.decode(text, type=_MadeBy)
        if sound and (made_by.format, made_by.version) == (FORMAT, __version__):
            return msgspec.msgpack.decode(text, type=Header), end + _DIGEST
    except UNDECODABLE:
        made_by, sound = _MadeBy(FORMAT, __version__), False
    if sound:
        raise SnapshotError(f"a snapshot made by dra-alloc {made_by.version}, and this is {__version__}")
    raise SnapshotError("a damaged snapshot: its header does not fit its checksum")


def note_inputs(paths: Sequence[str], target: str) -> list[Input]:
    """
    Return what files are before they are read for a snapshot at `target`; pipes are passed over.

    Of a snapshot among them what it was made of, too.

    Raises: OSError for a file that cannot be read.
    """
    folder = Path(target).resolve().parent
    found: dict[str, Input] = {}
    # A pipe gives what it has only once, and a folder without manifests is refused when it is read.
    for path in files_of(paths):
        if path == STDIN or not (Path(path).is_file() or not Path(path).exists()):
            continue
        data = Path(path).read_bytes()
        noted = _input(path, data, folder)
        found[noted.path] = noted
        for each in _header_within(data).inputs:
            moved = msgspec.structs.replace(each, path=_moved(each.path, path, folder))
            found.setdefault(moved.path, moved)
    return list(found.values())


def note_folders(paths: Sequence[str], target: str) -> list[Folder]:
    """
    Return what is in the folders among the paths, and was in those that snapshots among them were made of.

    Raises: OSError for a file that cannot be read.
    """
    folder, own = Path(target).resolve().parent, Path(target).resolve()
    found = {
        name: Folder(os.path.relpath(Path(name).resolve(), folder), _listing(Path(name), own))
        for path in paths
        if path != STDIN
        for name in folders_of(path)
    }
    for path in files_of(paths):
        if path != STDIN and Path(path).is_file():
            for each in _header_within(Path(path).read_bytes()).folders:
                moved = msgspec.structs.replace(each, path=_moved(each.path, path, folder))
                found.setdefault(moved.path, moved)
    return list(found.values())


def changes(header: Header, name: str) -> list[str]:
    """
    Return the files and folders that could not be compared, of those the snapshot of that name was made of.

    Raises: SnapshotError for one that is there and changed.
    """
    if len(header.inputs) + len(header.folders) > 2 * DEFAULT_BUDGET.files:
        raise SnapshotError("a damaged snapshot: it names more files than a load reads")
    own = Path(name).resolve()
    looks, absent = _Looks(own), list[str]()
    for each in header.folders:
        try:
            now, then = looks.listing(own.parent / each.path), set(each.names)
        except (OSError, ValueError):
            absent.append(each.path)  # A snapshot may travel without what it was made of.
            continue
        for said, names in (("has a new", now - then), ("has lost a", then - now)):
            if names:
                kind = "folder" if min(names).endswith("/") else "file"
                raise SnapshotError(f"a snapshot of the folder {each.path}, which {said} {kind} since: {min(names)}")
    for file in header.inputs:
        try:
            same = looks.same(own.parent / file.path, file)
        except (OSError, ValueError):
            absent.append(file.path)
            continue
        if not same:
            raise SnapshotError(f"a snapshot of {file.path}, which changed since")
    return absent


@dataclass(slots=True)
class _Looks:
    """What was looked at for one snapshot: once each, however often and by whatever ways it names it."""

    own: Path
    digests: dict[tuple[int, int], bytes] = field(default_factory=dict)
    listings: dict[tuple[int, int], frozenset[str]] = field(default_factory=dict)

    def listing(self, folder: Path) -> frozenset[str]:
        """Return what is in a folder. Raises: OSError, ValueError."""
        state = folder.stat()
        known = self.listings.get((state.st_dev, state.st_ino))
        if known is None:
            known = self.listings[state.st_dev, state.st_ino] = frozenset(_listing(folder, self.own))
        return known

    def same(self, path: Path, noted: Input) -> bool:
        """Return whether a file is what it was. Raises: OSError, ValueError."""
        state = path.stat()
        if not stat.S_ISREG(state.st_mode) or state.st_size != noted.size or noted.size > DEFAULT_BUDGET.file_bytes:
            return False
        if state.st_mtime_ns == noted.modified:
            return True
        known = self.digests.get((state.st_dev, state.st_ino))
        if known is None:
            known = self.digests[state.st_dev, state.st_ino] = _digest_of(path, noted.size)
        return known == noted.digest


def digest(data: bytes | memoryview) -> bytes:
    """Return a checksum."""
    return blake2b(data, digest_size=_DIGEST).digest()


def _digest_of(path: Path, size: int) -> bytes:
    """Return the checksum of so many bytes of a file."""
    found, left = blake2b(digest_size=_DIGEST), size
    with path.open("rb") as file:
        while left and (data := file.read(min(left, _CHUNK))):
            found.update(data)
            left -= len(data)
    return found.digest()


def _listing(folder: Path, own: Path) -> tuple[str, ...]:
    """Return the names of the manifests and sub-folders of a folder, without the snapshot itself."""
    found: list[str] = []
    with os.scandir(folder) as entries:
        for each in entries:
            if each.name.startswith("."):
                continue
            if each.is_dir(follow_symlinks=False):
                found.append(f"{each.name}/")
            elif each.name.endswith(ENDINGS) and each.is_file() and Path(each.path).resolve() != own:
                found.append(each.name)
    return tuple(sorted(found))


def _input(path: str, data: bytes, folder: Path) -> Input:
    found = Path(path).resolve()
    state = found.stat()
    # What changed just now may change again within the same tick of the clock.
    settled = time.time_ns() - state.st_mtime_ns > _TICK_NS
    return Input(os.path.relpath(found, folder), len(data), state.st_mtime_ns if settled else 0, digest(data))


def _moved(path: str, snapshot: str, folder: Path) -> str:
    """Return the path that another snapshot has for something, as one from this folder."""
    return os.path.relpath((Path(snapshot).resolve().parent / path).resolve(), folder)


def _header_within(data: bytes) -> Header:
    """Return the header of a snapshot, of anything else one that names nothing."""
    nothing = Header(FORMAT, __version__, [], [], 0, b"")
    if data.startswith(b"\x1f\x8b"):
        try:
            data = zlib.decompressobj(wbits=31).decompress(data, _HEADER_BYTES)
        except zlib.error:
            return nothing
    try:
        return read_header(data)[0] if data.startswith(MAGIC) else nothing
    except SnapshotError:
        return nothing  # Loading says it better.
