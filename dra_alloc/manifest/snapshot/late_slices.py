"""
Slices of a snapshot: who they are is read at once, their devices when somebody looks at them.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from functools import cache
from typing import Annotated, Any, Final, cast

import msgspec

from dra_alloc.api import ObjectMeta, ResourceSlice, ResourceSliceSpec
from dra_alloc.errors import ManifestError, Problem, Where
from dra_alloc.limits import SLICE_BYTES_MAX
from dra_alloc.manifest.make.outlines import Outline, outline_of
from dra_alloc.manifest.make.records import read_special, record_of, written_special
from dra_alloc.manifest.snapshot.header import UNDECODABLE

#: Devices take so many times their packed size, and never more, be they all alike: what has more is a bomb.
RATIO: Final = 32
#: Texts that most device lists have, for the compressor.
USUAL: Final = b"attributes\xa8capacity\xa6string\xa3int\xa4bool\xa7version\xa5value\xa4name"
_API_VERSION: Final = "resource.k8s.io/v1"


class LateSpec:
    """A slice's spec, of which devices and shared counters are unpacked on first touch."""

    __slots__ = ("_file", "_head", "_packed", "_record", "driver", "node_name", "pool")

    def __init__(self, packed: PackedSlice, file: str) -> None:
        head = packed.head
        self.driver = head.driver
        self.pool = head.pool
        self.node_name = head.node_name
        self._head = head
        self._packed = packed
        self._file = file
        self._record: Any = None

    @property
    def record(self) -> Any:
        """Return the whole spec. Raises: ManifestError, if it is damaged in a way that its checksum hides."""
        if self._record is None:
            packed = self._packed
            try:
                # Never more than was said, which is what was counted: a small snapshot is not a large one unseen.
                text = zlib.decompressobj(zdict=USUAL).decompress(packed.packed, packed.size)
                devices, counters = _lists_decoder().decode(text)
            except (zlib.error, *UNDECODABLE):
                raise self._damaged() from None
            # What was said of the devices before anybody saw them was believed.
            if outline_of(devices) != _outline(packed) or bool(counters) != packed.counting:
                raise self._damaged()
            self._record = msgspec.structs.replace(self._head, devices=devices, shared_counters=counters)
        return self._record

    def _damaged(self) -> ManifestError:
        said = "a damaged snapshot: a slice of it is none that dra-alloc writes"
        return ManifestError([Problem(said, Where(file=self._file))])

    @property
    def shared_counters(self) -> tuple[Any, ...]:
        """Return the shared counters."""
        return self.record.shared_counters if self._packed.counting else ()

    def __getattr__(self, name: str) -> Any:
        if name in _HEAD:
            return getattr(self._head, name)
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.record, name)

    def __eq__(self, other: object) -> bool:
        return bool(self.record == (other.record if isinstance(other, LateSpec) else other))

    def __hash__(self) -> int:
        return hash(self.record)

    def __repr__(self) -> str:
        return repr(self.record)

    def __reduce__(self) -> tuple[Any, ...]:
        return _itself, (self.record,)


def _itself(value: Any) -> Any:
    return value


#: What is read at once.
_HEAD: Final = frozenset(ResourceSliceSpec.model_fields) - {"devices", "shared_counters"}


class PackedSlice(msgspec.Struct, array_like=True, gc=False):
    """One slice as it is written; `metadata` and `head` are records, `packed` its devices and shared counters."""

    metadata: Any
    head: Any
    packed: bytes
    size: Annotated[int, msgspec.Meta(ge=1, le=SLICE_BYTES_MAX)]
    counting: bool
    outline: tuple[bool, bool, bool, bool, list[str | None]]


def packed_slice(item: ResourceSlice) -> PackedSlice:
    """Return what is written for a slice."""
    spec: Any = item.spec.record if isinstance(item.spec, LateSpec) else item.spec
    text = _ENCODER.encode((spec.devices, spec.shared_counters))
    squeezing = zlib.compressobj(zdict=USUAL)
    packed = (squeezing.compress(text) + squeezing.flush()).ljust(-(-len(text) // RATIO), b"\0")
    repeats, consumes, waits, simple, versions = outline_of(spec.devices)
    outline = repeats, consumes, waits, simple, sorted(versions, key=str)
    head = msgspec.structs.replace(spec, devices=(), shared_counters=())
    return PackedSlice(item.metadata, head, packed, len(text), bool(spec.shared_counters), outline)


def slice_from_packed(packed: PackedSlice, file: str) -> tuple[ResourceSlice, Outline]:
    """Return the slice in a snapshot of that name, and what is known of its devices."""
    spec = LateSpec(packed, file)
    made = _slice_record()(api_version=_API_VERSION, kind="ResourceSlice", metadata=packed.metadata, spec=spec)
    return cast(ResourceSlice, made), _outline(packed)


def _outline(packed: PackedSlice) -> Outline:
    repeats, consumes, waits, simple, versions = packed.outline
    return Outline(repeats, consumes, waits, simple, frozenset(versions))


@cache
def slices_decoder() -> msgspec.msgpack.Decoder[list[PackedSlice]]:
    """Return what reads the slices of a snapshot."""
    kinds = {"metadata": record_of(ObjectMeta), "head": record_of(ResourceSliceSpec)}
    fields = [(each.name, kinds.get(each.name, each.type)) for each in msgspec.structs.fields(PackedSlice)]
    whole = msgspec.defstruct("ReadSlice", fields, array_like=True, gc=False)
    return msgspec.msgpack.Decoder(list[whole], dec_hook=read_special)  # type: ignore[valid-type]  # made just now


@cache
def _lists_decoder() -> msgspec.msgpack.Decoder[Any]:
    kinds = {field.name: field.type for field in msgspec.structs.fields(record_of(ResourceSliceSpec))}
    both: Any = tuple.__class_getitem__((kinds["devices"], kinds["shared_counters"]))
    return msgspec.msgpack.Decoder(both, dec_hook=read_special)


@cache
def _slice_record() -> Callable[..., Any]:
    return record_of(ResourceSlice)


_ENCODER: Final = msgspec.msgpack.Encoder(enc_hook=written_special)
