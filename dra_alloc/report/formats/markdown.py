"""
Markdown for a comment on a change: a line of totals, and each refusal in a fold.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import Final

from dra_alloc.report.formats.annotations import Annotation, annotated
from dra_alloc.report.layout import inert, printable
from dra_alloc.report.records import Report

#: GitHub and GitLab cut or refuse longer comments: so many characters, less room for the last line.
_MOST: Final = 65_536 - 200
_FENCE: Final = re.compile("`{3,}")
_SIGN: Final = re.compile(r"([\\`*_\[\]#|~])")


def render(report: Report, verbose: bool) -> str:
    """Return a comment; what does not fit into one is counted, not cut in the middle."""
    found = list(annotated(report, verbose))
    total = list(report.whole.lines(verbose))[-1]
    head = f"### dra-alloc\n\n{'' if found else 'Nothing to complain of. '}{_plain(total)}\n"
    parts = [*map(_fold, found), *(f"> note: {_plain(each)}\n" for each in report.notes)]
    # What would be taken as a command grows as it is spelt out, and is counted as it is then.
    told = [inert(each, r"\x") for each in (head, *parts)]
    return "\n".join([told[0], *_fitting(told[1:], _MOST - len(told[0]))])


def _fitting(parts: list[str], left: int) -> Iterator[str]:
    """Yield as many as there is room for, and how many are left."""
    for number, each in enumerate(parts):
        left -= len(each) + 1
        if left < 0:
            yield f"and {len(parts) - number:,} more, for which a comment has no room\n"
            return
        yield each


def _fold(told: Annotation) -> str:
    place = f" ({html.escape(printable(told.file))}:{told.line})" if told.file else ""
    fence = "`" * max([3, *(len(each) + 1 for each in _FENCE.findall(told.text))])
    summary = f"<summary>{told.level}: <code>{html.escape(told.title)}</code>{place}</summary>"
    return f"<details>{summary}\n\n{fence}text\n{told.text}\n{fence}\n\n</details>\n"


def _plain(text: str) -> str:
    return _SIGN.sub(r"\\\1", html.escape(printable(text), quote=False))
