"""
Texts of inputs after they were read: for the lines of what turns out wrong later, and for all that was written.
"""

from __future__ import annotations

import stat
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path as File
from typing import Any, Final

from dra_alloc.manifest.budget import DEFAULT_BUDGET
from dra_alloc.manifest.read.inputs import InputBytes, sources
from dra_alloc.manifest.read.json_reader import plain_from_json, read_json
from dra_alloc.manifest.read.members import unlisted
from dra_alloc.manifest.read.paths import Path
from dra_alloc.manifest.read.positions import Position, Steps, positions_in_json, positions_in_yaml
from dra_alloc.manifest.read.raw import Noticed, RawDocument
from dra_alloc.manifest.read.yaml_reader import read_yaml

_KEPT: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Text:
    """
    The text of an input: kept if it is small, else read again when a line in it is asked for.

    That takes no longer than the first reading took. Pipes, and files that changed since, are not read again.
    """

    name: str
    is_json: bool
    data: bytes | None
    state: tuple[int, int] | None = None

    @classmethod
    def of(cls, source: InputBytes, *, is_json: bool) -> Text:
        """Return what is kept of an input that was read."""
        if len(source.data) <= _KEPT:
            return cls(source.name, is_json, source.data)
        return cls(source.name, is_json, None, _state(source.name))

    def positions(self, wanted: Collection[Steps]) -> Mapping[Steps, Position]:
        """Return line and column of each path, or of what there is of it, in one reading; nothing if that fails."""
        data = self.whole()
        if data is None:
            return {}
        return (positions_in_json if self.is_json else positions_in_yaml)(data, wanted)

    def objects(self, wanted: Collection[Path]) -> Iterator[tuple[Path, Any]]:
        """Yield the plain values of the objects at these places, in one reading; nothing if it cannot be read."""
        for each in self.every_object():
            if each.place in wanted:
                yield each.place, each.value if each.text is None else plain_from_json(each.text)

    def every_object(self) -> Iterator[RawDocument]:
        """Yield the objects, those of lists one by one; nothing if it cannot be read. Raises: TextError."""
        data = self.whole()
        if data is not None:
            for raw in read_json(data) if self.is_json else read_yaml(data, DEFAULT_BUDGET, Noticed()):
                yield from unlisted(raw, 0)

    def whole(self) -> bytes | None:
        """Return the text that was read; None if it cannot be read again."""
        if self.data is not None or self.state is None or self.state != _state(self.name):
            return self.data
        read = next(iter(sources([self.name], None, DEFAULT_BUDGET)))
        return read.data if isinstance(read, InputBytes) else None


def _state(name: str) -> tuple[int, int] | None:
    """Return size and time of the last change of a file; nothing for what can be read only once."""
    try:
        state = File(name).stat()
    except (OSError, ValueError):
        return None
    return (state.st_size, state.st_mtime_ns) if stat.S_ISREG(state.st_mode) else None
