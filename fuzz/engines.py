"""
Holds the engines against the plain search on random questions, and reports every difference.

    python -m fuzz.engines --cases 100000 [--seed 1] [--start 0] [--solver] [--record FILE]
    python -m fuzz.engines --cases 3000 --solver --about '"All"' --dialect 1.34-experimental --semantics upstream

Every channel and release is asked in turn, under both semantics. Without
--solver only boards, the first path, bounds and the pruned search are held against it. --about,
--dialect and --semantics pick questions of one kind: those whose JSON a regular
expression finds. The last line says how many questions no table can say, and
why.
"""

from __future__ import annotations

import argparse
import itertools
import json
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from dra_alloc.cli.harness.allocate import read_request
from dra_alloc.problem.pools import GatherError
from dra_alloc.rules import SearchStopped
from dra_alloc.solve.cpsat.first import FirstAnswer, first_answer
from dra_alloc.solve.direct import Direct, picks_of
from dra_alloc.solve.question import Question
from dra_alloc.solve.search.first_fit import FirstFit
from dra_alloc.solve.search.upstream import first_fit
from dra_alloc.solve.stops import Stop, raise_stop
from dra_alloc.solve.table.bounds import refuted
from dra_alloc.solve.table.build import build_table
from dra_alloc.solve.table.pruned import PrunedSearch
from dra_alloc.solve.table.table import Knows, NotModelled, Table
from dra_alloc.solve.table.trust import judged
from dra_alloc.testing.cases import random_requests
from dra_alloc.testing.drawing.dialect import Dialect
from dra_alloc.work import BudgetExhausted
from fuzz import progress
from fuzz.recording import Record, add_option, append

#: Steps of the plain search; what takes more is compared by the engines' verdict alone.
STEPS: Final = 20_000
#: Deterministic units of CP-SAT.
SOLVER_LIMIT: Final = 5.0
DIALECTS: Final = tuple(
    Dialect(release, channel)
    for release, channel in (
        ("1.36", "stable"),
        ("1.36", "incubating"),
        ("1.36", "experimental"),
        ("1.37", "incubating"),
        ("1.37", "experimental"),
        ("1.38", "stable"),
        ("1.38", "experimental"),
        ("1.35", "experimental"),
        ("1.34", "experimental"),
    )
)

Json = dict[str, Any]
#: An answer: (device keys in order, alternatives chosen), None for "no", or why there is none.
Answer = tuple[tuple[str, ...], tuple[str, ...]] | None | str
Solver = Callable[[Table, Question], Answer]

#: How often the direct engine is asked the same.
_ASKED: Final = 5
#: Cases of one record.
PART: Final = 7_000
NOT_MODELLED: Final = "not modelled"
_SEMANTICS: Final = ("upstream", "intended")
_UNDECIDED: Final = "undecided"
_STOPPED: Final = "stopped: "
#: What is in the text of a reason -> what it is about.
KINDS: Final = {
    "amounts of capacity grow": "amounts of capacity grow with what is looked at (GROW-2)",
    "All alternative goes on as": "an All alternative goes on as the first (slips)",
    "too many results": "an error, or too many results before it",
    "stops the search": "an error of another kind",
    "has to be picked first": "permutations of devices without a value",
    "several values at once": "an attribute with several values at once",
    "list of nothing": "a list of nothing under distinctAttribute",
}


class Difference(Exception):
    """Two engines disagree."""


def compare_engines(request: Json, solver: Solver | None = None) -> str:
    """
    Return how the question was compared.

    Raises: Difference.
    """
    allocator, node, claims = read_request(request)
    if allocator.profile.unsupported:
        return "unsupported"
    try:
        question = allocator.question(node, claims)
    except (SearchStopped, GatherError):
        return "refused before the search"
    rules = question.table_rules()
    plain = _plain(question)
    _hold_direct(allocator.direct, question, plain)
    try:
        table = judged(build_table(question.rows, question.candidates, rules, knows=Knows.ALL), rules, Knows.ALL)
    except NotModelled as reason:
        return f"{NOT_MODELLED}: {_kind(str(reason))}, {_verdict(plain)}"
    answers: list[tuple[str, Answer]] = []
    if table.plain:
        if isinstance(plain, str) and plain.startswith(_STOPPED):
            raise Difference("the plain search ends with an error, which the table does not know")
        answers.append(("pruned", _pruned(table)))
    if solver is not None:
        answers.append(("solver", solver(table, question)))
    for name, answer in answers:
        _hold(name, answer, plain, table)
    if table.plain and refuted(table) is not None and plain is not None and plain != _UNDECIDED:
        raise Difference(f"bound {refuted(table)} refutes {plain}")
    given_up = ", solver undecided" if ("solver", _UNDECIDED) in answers else ""
    by_request = any(row.by_request for row in (*table.agree, *table.differ))
    kind = ("exact" if table.exact else "looser") + (" with errors" if table.stops else "")
    kind += " by request" if by_request else ""
    return f"{kind}, {_verdict(plain)}{given_up}"


def _kind(reason: str) -> str:
    """Return which defect or error a reason not to model a question is about."""
    return next((kind for part, kind in KINDS.items() if part in reason), reason)


def _verdict(answer: Answer) -> str:
    return answer.partition(":")[0] if isinstance(answer, str) else "none" if answer is None else "found"


def _hold(name: str, answer: Answer, plain: Answer, table: Table) -> None:
    if _UNDECIDED in (answer, plain):
        return
    if answer is None and plain is not None:
        raise Difference(f"{name} refutes {plain}")
    if table.exact and answer != plain:
        raise Difference(f"{name} says {answer}, the plain search {plain}")


def _plain(question: Question) -> Answer:
    def tick(steps: int) -> None:
        if steps > STEPS:
            raise BudgetExhausted

    search = first_fit(question.rows, question.candidates, question.fresh_rules(), tick=tick)
    try:
        return _answer(search) if search.run() else None
    except SearchStopped as stop:
        return _STOPPED + stop.text
    except BudgetExhausted:
        return _UNDECIDED


def _hold_direct(direct: Direct, question: Question, plain: Answer) -> None:
    """
    Hold the engine that reads answers off devices and boards against the plain search, where it has an answer.

    It is asked again and again: what it knows of a node changes how it answers.
    """
    claims = [row.wire for row in question.rows]
    for _ in range(_ASKED):
        found = direct.answer(question.context.node, claims, STEPS)
        if found is None:
            return
        answer = None
        if found.choice.found:
            picks = picks_of(found.admitted.asks, found.view.slices, found.choice)
            served = [found.admitted.asks[each].full_name for each in found.choice.served]
            told = tuple(f"{pick.ask.claim}/{pick.ask.full_name}={pick.device.key}" for pick in picks)
            answer = told, tuple(each for each in served if "/" in each)
        if plain not in (_UNDECIDED, answer):
            raise Difference(f"direct says {answer}, the plain search {plain}")


def _pruned(table: Table) -> Answer:
    search = PrunedSearch(table)
    found = search.run(STEPS)
    return _UNDECIDED if found is None else _answer(search) if found else None


def by_solver(table: Table, question: Question) -> Answer:
    """Return CP-SAT's answer."""
    try:
        answer = first_answer(table, SOLVER_LIMIT)
    except NotModelled:
        return _UNDECIDED
    if answer.stopped is not None:
        return _STOPPED + _error_text(answer.stopped, question)
    return _UNDECIDED if answer.found is None else _answer(answer) if answer.found else None


def _answer(search: FirstFit | PrunedSearch | FirstAnswer) -> Answer:
    picks = tuple(f"{pick.ask.claim}/{pick.ask.full_name}={pick.device.key}" for pick in search.picks)
    # The plain search lists only real alternatives, so a plain request counts for nothing.
    chosen = {place: ask.full_name for place, ask in search.selected.items() if "/" in ask.full_name}
    return picks, tuple(chosen[place] for place in sorted(chosen))


def _error_text(stop: Stop, question: Question) -> str:
    try:
        raise_stop(question.rows[stop.ask.claim].name, stop, question.table_rules())
    except SearchStopped as error:
        return error.text
    raise Difference(f"the solver sees an error on {stop.device.key}, where there is none")


def _requests(options: argparse.Namespace) -> Iterator[Json]:
    """Return the questions from the first one on: each stream's next under both semantics, the streams in turn."""
    dialects = [each for each in DIALECTS if options.dialect in (None, _name(each))]
    semantics = [each for each in _SEMANTICS if options.semantics in (None, each)]
    rounds, skipped = divmod(options.start, len(dialects) * len(semantics))
    requests = itertools.islice(_rounds(options.seed, rounds, dialects, semantics), skipped, None)
    if options.about is None:
        return requests
    about = re.compile(options.about)
    return (request for request in requests if about.search(json.dumps(request)))


def _name(dialect: Dialect) -> str:
    return f"{dialect.release}-{dialect.channel}"


def _rounds(seed: int, start: int, dialects: Sequence[Dialect], semantics: Sequence[str]) -> Iterator[Json]:
    streams = [random_requests(seed, dialect, start=start) for dialect in dialects]
    while True:
        for stream in streams:
            request = next(stream)
            for each in semantics:
                yield {**request, "semantics": each}


def main(argv: list[str] | None = None) -> int:
    """Run; return 1 if there was a difference."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--start", type=int, default=0, help="number of the first case")
    parser.add_argument("--solver", action="store_true")
    parser.add_argument("--about", metavar="REGEX", help="only questions whose JSON has it")
    parser.add_argument("--dialect", choices=[_name(dialect) for dialect in DIALECTS], help="only this allocator")
    parser.add_argument("--semantics", choices=_SEMANTICS, help="only these semantics")
    add_option(parser)
    progress.add_option(parser)
    options = parser.parse_args(argv)
    if options.record and any((options.about, options.dialect, options.semantics)):
        parser.error("what is recorded is not picked by --about, --dialect or --semantics")
    seen: Counter[str] = Counter()
    differences = 0
    began = time.monotonic()
    shown = progress.Progress("engines", options.cases, wanted=options.progress)
    requests = _requests(options)
    for start in range(options.start, options.start + options.cases, PART):
        size = min(PART, options.start + options.cases - start)
        part, wrong, at = Counter[str](), 0, time.monotonic()
        for request in itertools.islice(requests, size):
            wrong += not _compared(request, by_solver if options.solver else None, part)
            shown.at(start - options.start + sum(part.values()) + wrong, differences + wrong)
        append(options.record, _record(options, start, part, wrong, time.monotonic() - at))
        seen += part
        differences += wrong
    print(json.dumps({"cases": options.cases, "differences": differences, "seen": seen}), file=sys.stderr)
    print(f"{_shares(seen, options.cases)}; {time.monotonic() - began:.1f} s", file=sys.stderr)
    return 1 if differences else 0


def _compared(request: Json, solver: Solver | None, seen: Counter[str]) -> bool:
    """Return whether the engines agree; prints the question if they do not."""
    try:
        seen[compare_engines(request, solver)] += 1
    except Difference as difference:
        print(json.dumps({"difference": str(difference), "request": request}), flush=True)
        return False
    return True


def _shares(seen: Counter[str], cases: int) -> str:
    """Return what was not modelled and how often, the most frequent first."""
    kinds: Counter[str] = Counter()
    for kind, count in seen.items():
        if kind.startswith(NOT_MODELLED):
            kinds[kind.removeprefix(f"{NOT_MODELLED}: ").rpartition(", ")[0]] += count
    listed = "; ".join(f"{count} {kind}" for kind, count in kinds.most_common())
    share = f"{kinds.total() / max(cases, 1):.1%}"
    return f"not modelled: {kinds.total()} of {cases} ({share})" + (f": {listed}" if listed else "")


def _record(options: argparse.Namespace, start: int, seen: Counter[str], differences: int, seconds: float) -> Record:
    return Record(
        tool="engines",
        release=", ".join(sorted({dialect.release for dialect in DIALECTS})),
        setting="bounds, pruned search" + (", CP-SAT" if options.solver else ""),
        seed=options.seed,
        start=start,
        cases=seen.total() + differences,
        differences=differences,
        allocated=sum(count for kind, count in seen.items() if ", found" in kind),
        seen=seen,
        seconds=seconds,
    )


if __name__ == "__main__":
    sys.exit(main())
