"""
What an object says it is, and lists taken apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from dra_alloc.manifest.read.json_reader import header_of, plain_from_json, says_list
from dra_alloc.manifest.read.raw import ListKind, RawDocument, TextError
from dra_alloc.manifest.read.yaml_reader import EMITTED

_LISTS_IN_LISTS: Final = 8
#: An object of the API has at least one of these; settings of other programs have none.
_MARKS: Final = frozenset(("kind", "metadata", "spec", "items"))


def is_foreign(value: Any) -> bool:
    """Say whether a document is none of the API's, such as a chart's values or a list of numbers."""
    if isinstance(value, list):
        return not any(isinstance(each, dict) and not is_foreign(each) for each in value)
    return value is not None and not (isinstance(value, dict) and not _MARKS.isdisjoint(value))


def says(raw: RawDocument) -> tuple[str, str]:
    """Return apiVersion and kind of an object, its list's where it has none."""
    if raw.text is None:
        return says_plain(raw.value, raw.list_kind)
    header = header_of(raw.text)
    return completed(header.api_version, header.kind, raw.list_kind)


def says_plain(value: Any, list_kind: ListKind | None) -> tuple[str, str]:
    """Return apiVersion and kind of an object that was read to plain values."""
    members = value if isinstance(value, dict) else {}
    return completed(members.get("apiVersion"), members.get("kind"), list_kind)


def completed(api_version: Any, kind: Any, list_kind: ListKind | None) -> tuple[str, str]:
    """Return apiVersion and kind, those of the members of a typed list where an object has none of its own."""
    if not kind and list_kind is not None and list_kind.kind not in ("", "List"):
        kind, api_version = list_kind.kind.removesuffix("List"), api_version or list_kind.api_version
    return (
        api_version if isinstance(api_version, str) else "",
        kind if isinstance(kind, str) else "",
    )


def unlisted(raw: RawDocument, depth: int) -> Iterator[RawDocument]:
    """Yield an object, or the members of a list that were not handed out yet; lists in lists too, and what cuts one."""
    value = raw.value
    if raw.text is not None and depth == 0 and len(raw.place) > 1 and says_list(raw.text):
        value = plain_from_json(raw.text)
    items = value.get("items") if isinstance(value, dict) else None
    if not isinstance(items, list):
        if value is not None or raw.text is not None or depth:
            yield raw
        return
    if depth >= _LISTS_IN_LISTS:
        raise TextError(f"lists in lists, more than {_LISTS_IN_LISTS} deep", raw.line)
    list_kind = ListKind(*says_plain(value, None))
    for position, item in enumerate(items):
        if item is not EMITTED:
            place = (*raw.place, "items", position)
            yield from unlisted(RawDocument(place, raw.line, item, list_kind=list_kind), depth + 1)
    if isinstance(value, dict) and cut(value):
        yield RawDocument(raw.place, raw.line, {name: value[name] for name in value if name != "items"})


def cut(value: Any) -> tuple[str, str] | None:
    """Return what is to be said of a list of which a server handed out a part, and what to do; None if it is whole."""
    metadata = value.get("metadata") if isinstance(value, dict) else None
    if not isinstance(metadata, dict) or not isinstance(metadata.get("continue"), str) or not metadata["continue"]:
        return None
    count = metadata.get("remainingItemCount")
    more = f"{count:,} more" if type(count) is int else "more"
    said = f"the list is cut: metadata.continue is set, and {more} are on the server"
    return said, "kubectl prints all of them; a program has to ask on with that token"
