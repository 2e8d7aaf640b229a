"""
A page to look at: one file without links, from a template, as strict as a content security policy can be.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from dra_alloc.errors import EngineUnavailable
from dra_alloc.report.layout import inert, printable
from dra_alloc.report.records import Finding, Report
from dra_alloc.scenario.picture import DeviceGroup, DeviceState, NodePicture, Picture

_FOLDER: Final = Path(__file__).parent
#: On nodes with more devices, parts that nobody has are counted, not drawn.
_DRAWN: Final = 64
#: Devices of a group that are named; how many more there are is said.
_NAMED: Final = 16
#: Classes of blocks in the style sheet.
_STATES: Final[Mapping[DeviceState, str]] = {
    DeviceState.TAKEN: "ta",
    DeviceState.HELD: "he",
    DeviceState.SHARED: "sh",
    DeviceState.TAINTED: "tn",
    DeviceState.SPENT: "sp",
    DeviceState.FREE: "fr",
}


def require() -> None:
    """Raises: EngineUnavailable where jinja2 is not installed."""
    try:
        import jinja2  # noqa: F401, PLC0415 - loaded where a page is asked for, and nowhere else
    except ImportError as error:
        raise EngineUnavailable("a page needs jinja2, which cannot be imported", hint="pip install jinja2") from error


def render(report: Report, verbose: bool) -> str:
    """
    Return the page.

    Spec: PAGE-1 to PAGE-3. Raises: EngineUnavailable where jinja2 is not installed.
    """
    require()
    style, script = (_text(name) for name in ("page.css", "page.js"))
    total = [each for each in report.whole.lines(verbose) if each and not each.startswith(" ")][-1:]
    picture = Picture({}, ()) if report.picture is None else report.picture()
    page = _template().render(
        title=report.whole.kind,
        total=total[0] if total else "",
        notes=report.notes,
        findings=[_finding(each, verbose) for each in report.findings],
        namespaces=_namespaces(report.findings, picture),
        classes=picture.classes,
        sides=list(picture.sides),
        nodes=list(_nodes(picture)),
        states=[(code, state.value) for state, code in _STATES.items()],
        style=style,
        script=script,
        policy=f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "base-uri 'none'; form-action 'none'",
    )
    return inert(page, "&#x", ";")


@cache
def _template() -> Any:
    import jinja2  # noqa: PLC0415 - as above

    environment = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined, finalize=_shown
    )
    return environment.from_string(_text("page.html"))


def _shown(value: Any) -> Any:
    """Return a value without characters that would steer its reader; what is markup already stays."""
    return printable(value) if type(value) is str else value


@cache
def _text(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


class _Told(NamedTuple):
    """A finding as it is shown: its first line, what is below, and how bad it is."""

    level: str
    head: str
    below: str
    namespace: str


def _finding(finding: Finding, verbose: bool) -> _Told:
    head, *below = list(finding.lines(verbose)) or [finding.subject]
    namespace, slash, _ = finding.subject.partition("/")
    return _Told(finding.level, head, "\n".join(below), namespace if slash else "")


def _namespaces(findings: Iterable[Finding], picture: Picture) -> list[str]:
    found = {each.subject.partition("/")[0] for each in findings if "/" in each.subject}
    for nodes in picture.sides.values():
        found |= {space for each in nodes.values() for group in each.groups for space in _spaces(group)}
    return sorted(found)


def _spaces(group: DeviceGroup) -> list[str]:
    return sorted({each.partition("/")[0] for each in group.holders})


class _Strip(NamedTuple):
    """A node on one side: its blocks as runs of codes, and its counter sets in tenths."""

    title: str
    blocks: Sequence[str]
    meters: Sequence[int]
    rows: Sequence[_Row]
    said: str


class _Row(NamedTuple):
    state: str
    code: str
    devices: str
    driver: str
    holders: str
    classes: str
    spaces: str


class _NodeTold(NamedTuple):
    name: str
    strips: Sequence[_Strip]
    changes: bool


def _nodes(picture: Picture) -> Iterator[_NodeTold]:
    names = dict.fromkeys(name for nodes in picture.sides.values() for name in nodes)
    for name in names:
        pictured = {title: nodes.get(name) for title, nodes in picture.sides.items()}
        changes = len({_compared(each) for each in pictured.values()}) > 1
        strips = [_strip(title, each) for title, each in pictured.items()]
        if not changes and len(strips) > 1:
            strips = [strips[-1]._replace(title="unchanged")]
        yield _NodeTold(name or "devices of several nodes", strips, changes)


def _compared(node: NodePicture | None) -> Any:
    return None if node is None else (node.meters, node.groups, node.closed)


def _strip(title: str, node: NodePicture | None) -> _Strip:
    if node is None:
        return _Strip(title, (), (), (), "not there")
    count = sum(len(each.devices) for each in node.groups)
    blocks = [
        _STATES[each.state]
        for each in node.groups
        if count <= _DRAWN or not each.parts or each.holders
        for _ in each.devices
    ]
    free = sum(len(each.devices) for each in node.groups if each.state is DeviceState.FREE)
    said = ", ".join([f"{free} of {count} free" if count else "no devices", *node.closed])
    return _Strip(title, blocks, [each.used // 10 for each in node.meters], [*map(_row, node.groups)], said)


def _row(group: DeviceGroup) -> _Row:
    more = f" and {len(group.devices) - _NAMED} more" if len(group.devices) > _NAMED else ""
    return _Row(
        group.state.value,
        _STATES[group.state],
        ", ".join(group.devices[:_NAMED]) + more,
        group.driver,
        ", ".join(dict.fromkeys(group.holders)),
        " ".join(map(str, group.classes)),
        " ".join(_spaces(group)),
    )
