"""
A dump read once and kept: what was checked is not checked again, and devices are unpacked when looked at.

A snapshot is a cache. It says which files it was made of, and is refused when
one of them changed, when it was made by another version, or when it is damaged.

Spec: SNAPSHOT-1 to SNAPSHOT-9.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from dra_alloc._version import __version__
from dra_alloc.manifest.budget import TooMuchUnpacked
from dra_alloc.manifest.documents import Documents, Place, Workload
from dra_alloc.manifest.kinds import MEMBERS, SLICE, Kind, recognise
from dra_alloc.manifest.make.outlines import Outline
from dra_alloc.manifest.make.workloads import kept_as_written, workload_of
from dra_alloc.manifest.read.inputs import InputBytes
from dra_alloc.manifest.snapshot.header import (
    FORMAT,
    UNDECODABLE,
    Folder,
    Header,
    Input,
    SnapshotError,
    changes,
    digest,
    framed,
    read_header,
)
from dra_alloc.manifest.snapshot.late_slices import RATIO, PackedSlice, packed_slice, slice_from_packed, slices_decoder

_NONE_OF_OURS: Final = "a damaged snapshot: its content is none that dra-alloc writes"


class _Place(msgspec.Struct, array_like=True, gc=False):
    file: str
    steps: tuple[str | int, ...]
    line: int
    version: str


class _Other(msgspec.Struct, array_like=True):
    """An object that is no slice: its kind, its JSON text, where it was read."""

    kind: str
    text: str
    place: _Place


class _Body(msgspec.Struct, array_like=True):
    slices: msgspec.Raw
    places: list[_Place]
    others: list[_Other]
    unknown: dict[str, int]


class Unpacked(NamedTuple):
    """One object of a snapshot, with what is known of its devices if it is a slice."""

    kind: Kind
    item: Any
    place: Place
    outline: Outline | None = None


class PackedContents(NamedTuple):
    """
    What is in a snapshot: its objects, and the numbers of those of other kinds.

    `doubt` says what it was made of and could not be compared; empty if nothing.
    """

    objects: Iterator[Unpacked]
    unknown: Mapping[str, int]
    doubt: str = ""


def pack(documents: Documents, inputs: Sequence[Input], folders: Sequence[Folder] = ()) -> bytes:
    """Return the snapshot of documents that were read from these files and folders."""
    encoder = msgspec.msgpack.Encoder(enc_hook=str)
    slices = encoder.encode([packed_slice(each) for each in documents.slices])
    places = [_packed_place(documents.places[id(each)]) for each in documents.slices]
    others = list(_others(documents))
    body = encoder.encode(_Body(msgspec.Raw(slices), places, others, dict(documents.unknown)))
    return framed(Header(FORMAT, __version__, list(inputs), list(folders), len(body), digest(body))) + body


def unpack(source: InputBytes) -> PackedContents:
    """
    Return what is in a snapshot that was read from a file.

    Spec: SNAPSHOT-1 to SNAPSHOT-9. Raises: SnapshotError, now or while the objects are taken.
    """
    header, start = read_header(source.data)
    body = memoryview(source.data)[start:]
    if len(body) != header.size or digest(body) != header.digest:
        raise SnapshotError("a damaged snapshot: its content does not fit its checksum")
    absent = changes(header, source.name)
    try:
        content = msgspec.msgpack.decode(body, type=_Body)
    except UNDECODABLE:
        raise SnapshotError(_NONE_OF_OURS) from None
    return PackedContents(_objects(content, source), content.unknown, _doubt(absent))


def _doubt(absent: Sequence[str]) -> str:
    """Return one note about everything that is not there to compare."""
    if not absent:
        return ""
    more = f" and {len(absent) - 1} more" if len(absent) > 1 else ""
    return f"could not compare input {absent[0]}{more} with what was packed: not found from here"


def _objects(content: _Body, source: InputBytes) -> Iterator[Unpacked]:
    try:
        packed: list[PackedSlice] = slices_decoder().decode(content.slices)
        if any(each.size > len(each.packed) * RATIO for each in packed):
            raise SnapshotError(_NONE_OF_OURS)
        source.unpacking.take(0, sum(each.size for each in packed))
        for each, place in zip(packed, content.places, strict=True):
            item, outline = slice_from_packed(each, source.name)
            yield Unpacked(SLICE, item, Place(place.file, place.steps, place.line, SLICE.name, place.version), outline)
        for other in content.others:
            kind, item = _read(other.kind, other.text)
            place = other.place
            yield Unpacked(kind, item, Place(place.file, place.steps, place.line, kind.name, place.version))
    except TooMuchUnpacked as error:
        raise SnapshotError(f"a snapshot that {error}", "") from None
    except (*UNDECODABLE, KeyError):
        raise SnapshotError(_NONE_OF_OURS) from None


def _others(documents: Documents) -> Iterator[_Other]:
    members = (member for member in (*MEMBERS, "queueing") if member != SLICE.member)
    for item in (each for member in members for each in getattr(documents, member)):
        place = documents.places[id(item)]
        written = item.body if isinstance(item, Workload) else item.to_wire()
        yield _Other(place.kind, json.dumps(written), _packed_place(place))


def _read(name: str, text: str) -> tuple[Kind, Any]:
    value = json.loads(text)
    api_version = value["apiVersion"]
    found = recognise(api_version, name) or kept_as_written(api_version, name, value)
    if found is None:
        raise KeyError(name)
    if found.model is not None:
        return found, found.model.from_json(text)
    return found, workload_of(value, found, api_version.rpartition("/")[2])


def _packed_place(place: Place) -> _Place:
    return _Place(place.file, place.steps, place.line, place.version)
