"""
How far a load has come, for whoever wants to show it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

from dra_alloc.manifest.read.inputs import InputBytes
from dra_alloc.manifest.read.raw import RawDocument

#: Takes the name of an input and the share of it that was read; 1 when it is done with, however it ended.
_Report = Callable[[str, float], None]

_REPORT: Final[ContextVar[_Report | None]] = ContextVar("report", default=None)
_EVERY: Final = 64


@contextmanager
def reporting(report: _Report) -> Iterator[None]:
    """Have loads inside the block, in this thread, report how far they have come."""
    token = _REPORT.set(report)
    try:
        yield
    finally:
        _REPORT.reset(token)


def watched(raws: Iterator[RawDocument], source: InputBytes) -> Iterator[RawDocument]:
    """Return the objects of an input; taking them is reported if somebody asked for that."""
    report = _REPORT.get()
    return raws if report is None else _reported(raws, source, report)


def _reported(raws: Iterator[RawDocument], source: InputBytes, report: _Report) -> Iterator[RawDocument]:
    size, lines = max(len(source.data), 1), source.data.count(b"\n") + 1
    read = 0
    try:
        for number, raw in enumerate(raws):
            if raw.text is not None:
                read += len(raw.text)
            if number % _EVERY == 0:
                # Objects of YAML have no text of their own, those of compact JSON are all on one line.
                report(source.name, min(max(read / size, raw.line / lines if raw.text is None else 0.0), 1.0))
            yield raw
    finally:
        report(source.name, 1.0)
