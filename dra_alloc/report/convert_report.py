"""
What `convert --check` tells: the objects that would have another version.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from dra_alloc.manifest.convert.texts import Change, ConvertedText
from dra_alloc.manifest.kinds import switched_on
from dra_alloc.report.layout import plural
from dra_alloc.report.records import Finding, Report, Section

_Told = tuple[Change, str]


def convert_report(texts: Sequence[ConvertedText], release: str = "") -> Report:
    """Return the records of what would change: why it has to is that a release does not have it, if one is named."""
    told = [(change, release) for text in texts for change in text.changes]
    noted = switched_on((each for text in texts for each in text.kept), release) if release else ()
    return Report(tuple(map(_finding, told)), Section("conversion", (told, noted), _lines, _members), noted)


def _finding(told: _Told) -> Finding:
    change, release = told
    level, code = ("error", "not-served") if release else ("warning", "other-version")
    section = Section("version", told, lambda told, _: [_said(told)], _version)
    return Finding(change.where.object, level, code, (section,), change.where)  # type: ignore[arg-type]


def _said(told: _Told) -> str:
    change, release = told
    if release:
        return f"Kubernetes {release} does not serve {change.before} of this kind: write {change.after}"
    return f"{change.before} would be {change.after}"


def _lines(about: tuple[list[_Told], tuple[str, ...]], _verbose: bool) -> Iterator[str]:
    told, noted = about
    for each in told:
        yield f"{each[0].where}: {_said(each)}"
    yield from (f"note: {note}" for note in noted)
    files = {change.where.file for change, _ in told}
    yield (
        f"{plural(len(told), 'object')} in {plural(len(files), 'file')} would change"
        if told
        else "nothing would change"
    )


def _version(told: _Told) -> dict[str, Any]:
    change, _ = told
    where = change.where
    return {
        "object": where.object,
        "file": where.file,
        "line": where.line,
        "apiVersion": change.before,
        "to": change.after,
    }


def _members(about: tuple[list[_Told], tuple[str, ...]]) -> dict[str, Any]:
    told, noted = about
    return {"changes": [_version(each) for each in told], "notes": list(noted)}
