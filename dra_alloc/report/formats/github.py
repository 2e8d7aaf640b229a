"""
Annotations of GitHub Actions: a workflow command for each finding that is not as it should be.
"""

from __future__ import annotations

from typing import Final

from dra_alloc.report.formats.annotations import Annotation, annotated
from dra_alloc.report.layout import inert, printable
from dra_alloc.report.records import Report

_COMMAND: Final = {"error": "error", "warning": "warning", "note": "notice"}


def render(report: Report, verbose: bool) -> str:
    """Return a line for each finding and note, and one of totals."""
    total = list(report.whole.lines(verbose))[-1:]
    notes = (f"::notice title=dra-alloc::{_data(each)}" for each in (*report.notes, *total))
    return "".join(f"{each}\n" for each in (*map(_command, annotated(report, verbose)), *notes))


def _command(told: Annotation) -> str:
    column = "" if told.column is None else f"col={told.column},"
    place = f"file={_property(told.file)},line={told.line},{column}" if told.file else ""
    title = _property(f"dra-alloc: {told.subject}")
    return f"::{_COMMAND[told.level]} {place}title={title}::{_data(told.text)}"


def _data(text: str) -> str:
    """Return a text as the data of a command has it: on one line, in which nothing ends it or begins another."""
    return inert(printable(text)).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
