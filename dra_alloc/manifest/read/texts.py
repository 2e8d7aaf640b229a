"""
Texts of inputs after they were read, to tell the lines of what turns out wrong later.
"""

from __future__ import annotations

import stat
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from dra_alloc.manifest.budget import DEFAULT_BUDGET
from dra_alloc.manifest.read.inputs import InputBytes, sources
from dra_alloc.manifest.read.positions import Steps, positions_in_json, positions_in_yaml

__all__ = ["Text"]

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

    def lines(self, wanted: Collection[Steps]) -> Mapping[Steps, int]:
        """Return the line of each path, or of what there is of it, in one reading; nothing if it cannot be read."""
        data = self.data
        if data is None and self.state is not None and self.state == _state(self.name):
            read = next(iter(sources([self.name], None, DEFAULT_BUDGET)))
            data = read.data if isinstance(read, InputBytes) else None
        if data is None:
            return {}
        find = positions_in_json if self.is_json else positions_in_yaml
        return {steps: line for steps, (line, _) in find(data, wanted).items()}


def _state(name: str) -> tuple[int, int] | None:
    """Return size and time of the last change of a file; nothing for what can be read only once."""
    try:
        state = Path(name).stat()
    except (OSError, ValueError):
        return None
    return (state.st_size, state.st_mtime_ns) if stat.S_ISREG(state.st_mode) else None
