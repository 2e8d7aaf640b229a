"""
How much it weighs that an alternative of a request cannot be had: less, as long as another one can.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from dra_alloc.linting.looking import AskedDevices, Linting
from dra_alloc.linting.rules import Hit
from dra_alloc.linting.written import WrittenObject
from dra_alloc.manifest.read.paths import Path


def weighed(
    finds: Callable[[Linting], Iterable[tuple[AskedDevices, Hit]]],
) -> Callable[[Linting], Iterable[Hit]]:
    """Return what finds the same, weighed."""
    return lambda linting: weigh(finds(linting))


def weigh(hits: Iterable[tuple[AskedDevices, Hit]]) -> Iterator[Hit]:
    """Yield what is told of requests and alternatives, of some alternatives of a request only as info."""
    told = list(hits)
    failing: dict[tuple[WrittenObject, Path], set[Path]] = {}
    for asked, _ in told:
        failing.setdefault((asked.written, asked.path[:-1]), set()).add(asked.path)
    for asked, hit in told:
        some = len(failing[asked.written, asked.path[:-1]]) < asked.among
        yield hit._replace(severity="info") if some else hit
