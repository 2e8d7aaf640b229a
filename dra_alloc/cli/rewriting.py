"""
Files rewritten in place or shown as a change: all of them or none, and only what still is what was read.
"""

from __future__ import annotations

import os
from codecs import BOM_UTF8
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from dra_alloc.cli.writing import checked, write_file
from dra_alloc.errors import InputError, Where


class RewrittenFile(Protocol):
    """A file with its text before and after."""

    @property
    def name(self) -> str: ...
    @property
    def before(self) -> str: ...
    @property
    def after(self) -> str: ...


def diff_of(text: RewrittenFile) -> str:
    """Return the changes of a file as `diff -u` tells them: no line ends but in a line feed."""
    from difflib import unified_diff
    from io import StringIO

    before, after = (list(StringIO(each, newline="\n")) for each in (text.before, text.after))
    name = _named(text.name)
    lines = unified_diff(before, after, name, name)
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def _named(name: str) -> str:
    """Return a name as `git diff` quotes it, and as it and `patch` read it, where it would steer who reads the diff."""
    from dra_alloc.report.layout import inert

    if name.isprintable() and inert(name) == name:
        return name
    spelt = "".join(each if each.isprintable() and each not in '"\\#' else _octal(each) for each in name)
    return f'"{spelt}"'


def _octal(character: str) -> str:
    return "".join(f"\\{each:03o}" for each in os.fsencode(character))


def rewrite(texts: Sequence[RewrittenFile]) -> list[str]:
    """
    Replace files with what they are to say, and return their names; one that has several is written once.

    Raises: InputError, for those that are not what was read, and then nothing is written.
    """
    named = {os.path.realpath(text.name): text for text in texts}  # a file may be named twice, or by links
    for text in named.values():
        _mark_of(text, "; nothing was written")
        checked(text.name)
    for text in named.values():
        write_file(text.name, _mark_of(text) + text.after.encode())
    return [text.name for text in named.values()]


def _mark_of(text: RewrittenFile, besides: str = "") -> bytes:
    """Return the byte order mark of a file that still is what was read. Raises: InputError, if it is not."""
    try:
        data = Path(text.name).read_bytes()
    except OSError as error:
        raise InputError(f"cannot be rewritten: {error.strerror}{besides}", where=Where(file=text.name)) from None
    mark = BOM_UTF8 if data.startswith(BOM_UTF8) else b""
    if data != mark + text.before.encode():
        why, hint = _why_other(data)
        raise InputError(f"cannot be rewritten: {why}{besides}", where=Where(file=text.name), hint=hint)
    return mark


def _why_other(data: bytes) -> tuple[str, str]:
    """Return why the bytes of a file are not the text that was read, and what to do."""
    from dra_alloc.manifest.read.inputs import GZIP

    if data.startswith(GZIP):
        return "it is packed", "unpack it first, or do not rewrite it"
    try:
        data.decode()
    except UnicodeDecodeError:
        return "it is not UTF-8", "write it as UTF-8 first, or do not rewrite it"
    return "it has changed since it was read", "ask again"
