"""
Events of a watch, as objects of ours or as the dictionaries that a watch stream gives.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from dra_alloc.api import DeviceClass, DeviceTaintRule, Node, ResourceClaim, ResourceSlice
from dra_alloc.errors import InputError, Where, in_brief
from dra_alloc.manifest import DEFAULT_BUDGET
from dra_alloc.manifest.kinds import Unserved, recognise
from dra_alloc.manifest.make.objects import make
from dra_alloc.manifest.make.records import WireRecord
from dra_alloc.manifest.read.paths import render, tokens

Wire = ResourceSlice | ResourceClaim | DeviceClass | Node | DeviceTaintRule

_TYPES: Final = ("ADDED", "MODIFIED", "DELETED")
#: Says how far the watch is, and of what object it is has no more than that.
_BOOKMARK: Final = "BOOKMARK"
#: Ends the watch.
_ERROR: Final = "ERROR"
_WANTED: Final = 'an event is dra_alloc.Event(type, object) or {"type": "ADDED", "object": {...}}'
_KINDS: Final = "ResourceSlice, ResourceClaim, DeviceClass, Node or DeviceTaintRule"
_MEMBERS: Final = frozenset(("slices", "claims", "classes", "nodes", "taint_rules"))


@dataclass(frozen=True, slots=True)
class Event:
    """One change as a watch of the API server reports it: ADDED, MODIFIED or DELETED, and the object."""

    type: str
    object: Wire


def read_events(events: Iterable[Event | Mapping[str, Any]]) -> Iterator[Event]:
    """
    Yield the events of a watch that change something: bookmarks are left out.

    Raises: InputError for what is no event, and for an object that is not known or not well formed.
    """
    if isinstance(events, Event | Mapping | str) or not isinstance(events, Iterable):
        raise InputError(f"events takes a sequence of events, not {_called(events)}", hint=_WANTED)
    kind: Any
    item: Any
    listed: Iterable[Any] = events
    for number, event in enumerate(listed):
        place = f"events[{number}]"
        if isinstance(event, Event):
            kind, item = event.type, event.object
        elif isinstance(event, Mapping) and "type" in event:
            kind, item = event["type"], event.get("object")
        else:
            raise InputError(f"{place} is {_called(event)}, not an event", hint=_WANTED)
        if kind == _BOOKMARK:
            continue
        if kind == _ERROR:
            raise _ended(item, place)
        if kind not in _TYPES:
            raise InputError(f"{place}: unknown event type {kind!r}", hint="ADDED, MODIFIED or DELETED")
        if not isinstance(item, Mapping | Wire | WireRecord):
            said = "no object" if item is None else _called(item)
            raise InputError(f"{place} has {said}; a cluster takes {_KINDS}", hint=_WANTED)
        found: Any = _object(item, place) if isinstance(item, Mapping) else item
        yield Event(kind, found)


def _ended(status: object, place: str) -> InputError:
    """Return the error for a watch that the API server ended; the object is a Status that says why."""
    message = status.get("message") if isinstance(status, Mapping) else None
    said = f": {in_brief(message)}" if isinstance(message, str) and message else ""
    return InputError(
        f"{place}: the watch ended with an error{said}", hint="list the objects again and begin a new watch from there"
    )


def _object(value: Mapping[str, Any], place: str) -> Any:
    """Return the object of plain values in whatever version. Raises: InputError."""
    version, name = value.get("apiVersion"), value.get("kind")
    try:
        kind = recognise(version, name) if isinstance(version, str) and isinstance(name, str) else None
    except Unserved as error:
        raise InputError(f"{place}.object: {error}", hint=error.hint) from None
    if kind is None or kind.member not in _MEMBERS:
        said = in_brief(f"{version} {name}") if version or name else "an object without apiVersion and kind"
        raise InputError(f"{place}.object: a cluster has no {said}", hint=f"it takes {_KINDS}")
    made = make(dict(value), kind, str(version).rpartition("/")[2], DEFAULT_BUDGET.nesting)
    for finding in made.findings:
        where = Where(path=f"{place}.object.{render(tokens(finding.path))}")
        raise InputError(finding.message, where=where, hint=finding.hint)
    return made.item


def _called(value: object) -> str:
    return f"a {type(value).__name__}"
