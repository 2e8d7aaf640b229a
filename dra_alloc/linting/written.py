"""
Objects as they were written, before anything was made of them: shapes that no object has are seen only there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from dra_alloc.manifest import Documents
from dra_alloc.manifest.documents import object_name
from dra_alloc.manifest.read.json_reader import plain_from_json
from dra_alloc.manifest.read.members import says_plain
from dra_alloc.manifest.read.paths import Path
from dra_alloc.manifest.read.raw import TextError

_DEEPEST: Final = 64


@dataclass(frozen=True, slots=True, eq=False)
class WrittenObject:
    """An object of a file: the path to it, the line it begins in, and its plain values."""

    file: str
    place: Path
    line: int
    api_version: str
    kind: str
    value: dict[str, Any]

    @property
    def group(self) -> str:
        """The API group that it names."""
        return self.api_version.rpartition("/")[0]

    @property
    def version(self) -> str:
        """The version that it names."""
        return self.api_version.rpartition("/")[2]

    @property
    def called(self) -> str:
        """How it is called in messages."""
        metadata = members(self.value.get("metadata"))
        return object_name(self.kind or "object", metadata.get("namespace"), metadata.get("name"))


def written_objects(documents: Documents) -> Iterator[WrittenObject]:
    """
    Yield the objects of all texts, file by file, as far as they can be read.

    Slices in JSON that could be made are left out: dumps have thousands, which are read as records, not once more.
    """
    slices = (documents.places.get(id(each)) for each in documents.slices)
    left = {(place.file, place.steps) for place in slices if place is not None}
    for file, text in documents.texts.items():
        try:
            for raw in text.every_object():
                if raw.text is not None and (file, raw.place) in left:
                    continue
                value = raw.value if raw.text is None else plain_from_json(raw.text)
                if isinstance(value, dict):
                    api_version, kind = says_plain(value, raw.list_kind)
                    yield WrittenObject(file, raw.place, raw.line, api_version, kind, value)
        except TextError:
            continue


def members(value: Any) -> dict[str, Any]:
    """Return the members of a mapping; none of anything else."""
    return value if isinstance(value, dict) else {}


def at(value: Any, path: Path) -> Any:
    """Return what stands at a path of plain values, or None."""
    for step in path:
        if isinstance(value, list):
            number = int(step) if str(step).isdecimal() else len(value)
            value = value[number] if number < len(value) else None
        else:
            value = value.get(step) if isinstance(value, dict) else None
    return value


def walked(value: Any, path: Path = ()) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Yield each mapping in plain values with its path, outer ones first."""
    if len(path) > _DEEPEST:
        return
    if isinstance(value, dict):
        yield path, value
        for name, each in value.items():
            if isinstance(each, dict | list):
                yield from walked(each, (*path, name))
    elif isinstance(value, list):
        for number, each in enumerate(value):
            if isinstance(each, dict | list):
                yield from walked(each, (*path, number))
