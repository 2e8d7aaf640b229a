"""
Writes the page on conformance from the recorded runs and the table of traits.

    python -m fuzz.report           says whether docs/reference/conformance.md is what this writes
    python -m fuzz.report --write   writes it
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from dra_alloc.releases import Span, parse_release
from dra_alloc.testing.comparison import NOT_COMPARED, RANDOM_IN_UPSTREAM
from dra_alloc.testing.drawing.features import FEATURES
from dra_alloc.traits import TRAITS, Channel, TraitRecord
from fuzz.coverage import pairs_of
from fuzz.recording import ROOT, RUNS, Record, read
from spec.divergences import Place
from spec.divergences import read as divergences

PAGE: Final = ROOT / "docs" / "reference" / "conformance.md"
_CHANNELS: Final = tuple(Channel)
_UPSTREAM: Final = frozenset({"differential", "cel_selectors", "upstream_table", "control_plane"})
_HEAD: Final = """\
# Conformance

What was compared with upstream's own code, and what came of it. This page is
written by `python -m fuzz.report --write` from the runs in
`docs/reference/conformance-runs.jsonl`, each of which can be repeated: cases
are made from release, channel, seed and number alone. `fuzz/README.md` says how
to run more; `--record` adds them here.
"""
_ALLOCATION: Final = """\
## Allocation

Random clusters and claims, upstream's allocator and ours, compared in results,
error text, node-only flag and, where the allocator counts them, search steps.
"""
_EXPLAINED: Final = """\
Answers that agree by a rule for what is random in upstream, and cases that were not compared:
"""
_RULES: Final = """\
## Cases by feature

How many of these cases have a feature, by channel: stable, incubating,
experimental. Every case has several, and a pair of features that no case of a
channel had is counted above. A channel that does not support a feature has it
in few cases: there it is refused as a whole.
"""
_SELECTORS: Final = """\
## Selectors

Random CEL expressions on random devices, compared in compile error, type,
estimated and actual cost, value and run-time error.
"""
_TABLE: Final = """\
## Upstream's own test table

The cases of upstream's allocator tests, taken from the pinned module when the
comparison runs.
"""
_PLANE: Final = """\
## Pods on a control plane

Random clusters and workloads, applied to a real control plane (etcd, API server, controllers, scheduler) and asked of
`Cluster.schedule`: of every attempt to place a pod whether it runs, the nodes with the highest score, its devices by
claim, or the scheduler's message; of every step how many pods of each workload run, and the names of pods and claims.
"""
_TARGETS: Final = """\
## Properties

What does not need upstream: one property a target, see `fuzz/README.md`.
"""
_FOUND: Final = """\
## New upstream defects found here

What the comparisons brought to light before we knew of a report, with what says and
shows it in `spec/`: `--semantics upstream` has these, too. The number is that
of upstream's issue or pull request where one is known.
"""
_DIVERGENCES: Final = """\
## Divergences

Where upstream does something else than its API promises, we do the same:
`--semantics upstream`, the default, answers as the scheduler does;
`--semantics intended` has none of these. Numbers are issues and pull requests
of kubernetes/kubernetes.
"""


@dataclass
class _Sum:
    """What several runs of one tool, release and setting come to."""

    cases: int = 0
    differences: int = 0
    allocated: int = 0
    backtracking: int = 0
    seconds: float = 0.0
    seeds: set[int] = field(default_factory=set)
    explained: Counter[str] = field(default_factory=Counter)
    seen: Counter[str] = field(default_factory=Counter)
    missing: frozenset[tuple[str, str]] | None = None

    @property
    def compared(self) -> int:
        """How many cases were compared: both sides came to an end."""
        return self.cases - sum(self.explained[rule] for rule in NOT_COMPARED)

    def add(self, run: Record) -> None:
        self.cases += run.cases
        self.differences += run.differences
        self.allocated += run.allocated or 0
        self.backtracking += run.backtracking or 0
        self.seconds += run.seconds
        self.seeds.add(run.seed)
        self.explained.update(run.explained)
        self.seen.update(run.seen)
        if run.missing_pairs is not None:
            missing = frozenset(run.missing_pairs)
            self.missing = missing if self.missing is None else self.missing & missing


Key = tuple[str, str, str]


def _sums(runs: Iterable[Record]) -> dict[Key, _Sum]:
    """Return the runs by tool, release and setting; of runs of the same cases the last counts."""
    latest = {(run.tool, run.release, run.setting, run.seed, run.start): run for run in runs}
    sums: dict[Key, _Sum] = {}
    for run in latest.values():
        sums.setdefault((run.tool, run.release, run.setting), _Sum()).add(run)
    return dict(sorted(sums.items(), key=_place))


def _place(item: tuple[Key, _Sum]) -> tuple[object, ...]:
    tool, release, setting = item[0]
    channels = [str(channel) for channel in _CHANNELS]
    order = channels.index(setting) if setting in channels else len(channels)
    numbered = release[:1].isdigit() and "," not in release
    return tool, tuple(parse_release(release)) if numbered else (), release, order, setting


def _table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    right = [name.endswith("*") for name in head]  # numbers
    lines = ["| " + " | ".join(name.rstrip("*") for name in head) + " |"]
    lines.append("| " + " | ".join("---:" if each else "---" for each in right) + " |")
    lines += ["| " + " | ".join(_cell(value) for value in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def _cell(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.0%}" if whole else "-"


def _of(sums: dict[Key, _Sum], tool: str) -> Iterator[tuple[str, str, _Sum]]:
    return ((release, setting, each) for (name, release, setting), each in sums.items() if name == tool)


def _allocation(sums: dict[Key, _Sum]) -> str:
    head = (
        *(
            "release",
            "channel",
            "cases*",
            "compared*",
            "differences*",
            "by a rule*",
            "allocated*",
            "over 10 steps back*",
        ),
        *("pairs of features missing*", "seeds"),
    )
    rows = [
        (
            *(release, channel, each.cases, each.compared, each.differences),
            each.explained.total() - each.cases + each.compared,
            *(_share(each.allocated, each.cases), _share(each.backtracking, each.cases)),
            *(len((each.missing or frozenset()) & frozenset(pairs_of(release))), _seeds(each)),
        )
        for release, channel, each in _of(sums, "differential")
    ]
    total = sum((each.explained for _, _, each in _of(sums, "differential")), Counter[str]())
    rules = [(f"`{rule}`", total[rule], meaning) for rule, meaning in RANDOM_IN_UPSTREAM.items() if total[rule]]
    explained = [_EXPLAINED, _table(("rule", "cases*", "meaning"), rules)] if rules else []
    return "\n".join([_ALLOCATION, _table(head, rows), *explained])


def _seeds(each: _Sum) -> str:
    return ", ".join(map(str, sorted(each.seeds)))


def _rules(sums: dict[Key, _Sum]) -> str:
    found = {(release, channel): each for release, channel, each in _of(sums, "differential")}
    releases = list(dict.fromkeys(release for release, _ in found))
    rows = []
    for feature in FEATURES:
        cells = [
            " / ".join(
                _cell(found[release, each].seen[feature]) if (release, each) in found else "-" for each in _CHANNELS
            )
            for release in releases
        ]
        rows.append((f"`{feature}`", *cells))
    return "\n".join([_RULES, _table(("feature", *(f"{release}*" for release in releases)), rows)])


def _selectors(sums: dict[Key, _Sum]) -> str:
    head = (
        "release",
        "environment",
        "pairs*",
        "differences*",
        "by a rule*",
        "compile errors*",
        "run-time errors*",
        "seeds",
    )
    rows = [
        (
            *(release, setting, each.cases, each.differences, each.explained.total()),
            *(each.seen["compile"], each.seen["err"], _seeds(each)),
        )
        for release, setting, each in _of(sums, "cel_selectors")
    ]
    return "\n".join([_SELECTORS, _table(head, rows)])


def _own_table(sums: dict[Key, _Sum]) -> str:
    rows = [
        (release, each.cases, each.differences, _listed(each.explained))
        for release, _, each in _of(sums, "upstream_table")
    ]
    return "\n".join([_TABLE, _table(("release", "cases*", "differences*", "by a rule, or not modelled"), rows)])


def _listed(counts: Counter[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in sorted(counts.items()))


def _plane(sums: dict[Key, _Sum]) -> str:
    kinds = {"attempts": "runs", "nodes": "nodes", "devices": "devices", "messages": "message", "steps": "running"}
    head = ("release", "gates", "worlds*", *(f"{name}*" for name in kinds), "differences*", "not settled*")
    rows = [
        (
            *(release, setting or "default", each.cases, *(each.seen[kind] for kind in kinds.values())),
            *(each.differences, each.seen["unsettled"], _seeds(each), f"{each.seconds / 60:.0f}"),
        )
        for release, setting, each in _of(sums, "control_plane")
    ]
    return "\n".join([_PLANE, _table((*head, "seeds", "minutes*"), rows)])


def _targets(sums: dict[Key, _Sum]) -> str:
    rows = [
        (f"`{tool}`", _where(release, setting), each.cases, each.differences, _seeds(each))
        for (tool, release, setting), each in sums.items()
        if tool not in _UPSTREAM
    ]
    return "\n".join([_TARGETS, _table(("target", "setting", "cases*", "broken*", "seeds"), rows)])


def _where(release: str, setting: str) -> str:
    return "; ".join(each for each in (release, setting) if each) or "several releases and channels"


def _divergences() -> str:
    rows = []
    for trait, records in TRAITS.items():
        for record in records:
            if record.defect:
                number = f"#{record.issue}" if record.issue else "none known"
                rows.append((f"`{trait}`", record.summary, _channels(record), _releases(record.span), number))
    return "\n".join([_DIVERGENCES, _table(("name", "what upstream does", "channels", "releases", "number"), rows)])


def _found() -> str:
    rows = [
        (
            *(f"`{name}`", each.summary, "; ".join(map(_held, each.holds)), ", ".join(each.statements)),
            *(", ".join(f"`{vector}`" for vector in each.vectors), each.issue or "none known"),
        )
        for name, each in divergences().items()
        if each.found_here
    ]
    return "\n".join([_FOUND, _table(("name", "what happens", "where", "statements", "vectors", "upstream"), rows)])


def _held(place: Place) -> str:
    channels = "all channels" if len(place.channels) == len(_CHANNELS) else ", ".join(place.channels)
    return f"{_releases(Span(place.since or '', place.before or '', place.backports))} ({channels})"


def _channels(record: TraitRecord) -> str:
    return "all" if record.channels == frozenset(_CHANNELS) else ", ".join(sorted(record.channels))


def _releases(span: Span) -> str:
    ends = [f"before {span.end}"] if span.end else []
    backports = [f"not from {patch} on" for patch in span.backports]
    return ", ".join([f"since {span.start}"] * bool(span.start) + ends + backports) or "every release"


def page(runs: Iterable[Record]) -> str:
    """Return the page for these runs."""
    sums = _sums(runs)
    compared = sum(each.compared for key, each in sums.items() if key[0] in _UPSTREAM)
    differing = sum(each.differences for key, each in sums.items() if key[0] in _UPSTREAM)
    hours = sum(each.seconds for each in sums.values()) / 3600
    total = (
        f"In all {compared:,} comparisons with upstream, {differing:,} unexplained differences; {hours:.1f} hours.\n"
    )
    parts = (_allocation, _rules, _selectors, _own_table, _plane, _targets)
    return "\n".join([_HEAD, total, *(part(sums) for part in parts), _found(), _divergences()])


def main(arguments: list[str] | None = None) -> int:
    """Write the page, or say whether it is as it would be written."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.report")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args(arguments)
    made = page(read(RUNS))
    if options.write:
        PAGE.write_text(made, encoding="utf-8")
        return 0
    same = PAGE.exists() and PAGE.read_text(encoding="utf-8") == made
    print("as generated" if same else "differs: run python -m fuzz.report --write")
    return int(not same)


if __name__ == "__main__":
    sys.exit(main())
