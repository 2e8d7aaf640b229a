"""
Holds the engines against the plain search on random questions, and reports every difference.

    python -m fuzz.engines --cases 100000 [--seed 1] [--solver] [--record FILE]

Every channel and release is asked in turn, under both semantics. Without
--solver only bounds and the pruned search are held against it.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, Final

from dra_alloc.cli.harness_allocate import read_request
from dra_alloc.problem.pools import GatherError
from dra_alloc.rules import SearchStopped
from dra_alloc.solve.bounds import refuted
from dra_alloc.solve.cpsat_first import FirstAnswer, first_answer
from dra_alloc.solve.first_fit import BudgetExhausted, FirstFit
from dra_alloc.solve.pruned import PrunedSearch
from dra_alloc.solve.question import Question
from dra_alloc.solve.standing import judged
from dra_alloc.solve.table import NotModelled, Table, build_table
from dra_alloc.testing.cases import random_requests
from dra_alloc.testing.dialect import Dialect
from fuzz.recording import Record, add_option, append

__all__ = ["DIALECTS", "Difference", "by_solver", "compare_engines", "main"]

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
        ("1.35", "experimental"),
        ("1.34", "experimental"),
    )
)

Json = dict[str, Any]
#: An answer: (device keys in order, alternatives chosen), None for "no", or why there is none.
Answer = tuple[tuple[str, ...], tuple[str, ...]] | None | str
Solver = Callable[[Table], Answer]


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
    try:
        table = judged(build_table(question.rows, question.candidates, rules), rules)
    except NotModelled:
        return "not modelled"
    if plain == "stopped":
        raise Difference("the plain search ends with an error, which the table does not know")
    engines: list[tuple[str, Solver]] = [("pruned", _pruned)]
    if solver is not None:
        engines.append(("solver", solver))
    for name, engine in engines:
        _hold(name, engine(table), plain, table)
    if refuted(table) is not None and plain is not None and plain != "undecided":
        raise Difference(f"bound {refuted(table)} refutes {plain}")
    return f"{'exact' if table.exact else 'looser'}, {_verdict(plain)}"


def _verdict(answer: Answer) -> str:
    return answer if isinstance(answer, str) else "none" if answer is None else "found"


def _hold(name: str, answer: Answer, plain: Answer, table: Table) -> None:
    if "undecided" in (answer, plain):
        return
    if answer is None and plain is not None:
        raise Difference(f"{name} refutes {plain}")
    if table.exact and answer != plain:
        raise Difference(f"{name} says {answer}, the plain search {plain}")


def _plain(question: Question) -> Answer:
    def tick(steps: int) -> None:
        if steps > STEPS:
            raise BudgetExhausted

    search = FirstFit(question.rows, question.candidates, question.fresh_rules(), tick=tick)
    try:
        return _answer(search) if search.run() else None
    except SearchStopped:
        return "stopped"
    except BudgetExhausted:
        return "undecided"


def _pruned(table: Table) -> Answer:
    search = PrunedSearch(table)
    found = search.run(STEPS)
    return "undecided" if found is None else _answer(search) if found else None


def by_solver(table: Table) -> Answer:
    """Return CP-SAT's answer."""
    try:
        answer = first_answer(table, SOLVER_LIMIT)
    except NotModelled:
        return "undecided"
    return "undecided" if answer.found is None else _answer(answer) if answer.found else None


def _answer(search: FirstFit | PrunedSearch | FirstAnswer) -> Answer:
    picks = tuple(f"{pick.ask.claim}/{pick.ask.full_name}={pick.device.key}" for pick in search.picks)
    # The plain search lists only real alternatives, so a plain request counts for nothing.
    chosen = {place: ask.full_name for place, ask in search.selected.items() if "/" in ask.full_name}
    return picks, tuple(chosen[place] for place in sorted(chosen))


def _requests(seed: int) -> Iterator[Json]:
    streams = [random_requests(seed, dialect) for dialect in DIALECTS]
    while True:
        for stream in streams:
            request = next(stream)
            for semantics in ("upstream", "intended"):
                yield {**request, "semantics": semantics}


def main(argv: list[str] | None = None) -> int:
    """Run; return 1 if there was a difference."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--solver", action="store_true")
    add_option(parser)
    options = parser.parse_args(argv)
    seen: Counter[str] = Counter()
    differences = 0
    started = time.monotonic()
    for request in itertools.islice(_requests(options.seed), options.cases):
        try:
            seen[compare_engines(request, by_solver if options.solver else None)] += 1
        except Difference as difference:
            differences += 1
            print(json.dumps({"difference": str(difference), "request": request}), flush=True)
    seconds = time.monotonic() - started
    print(json.dumps({"cases": options.cases, "differences": differences, "seen": seen}), file=sys.stderr)
    print(f"{seconds:.1f} s", file=sys.stderr)
    append(options.record, _record(options, seen, differences, seconds))
    return 1 if differences else 0


def _record(options: argparse.Namespace, seen: Counter[str], differences: int, seconds: float) -> Record:
    return Record(
        tool="engines",
        release=", ".join(sorted({dialect.release for dialect in DIALECTS})),
        setting="bounds, pruned search" + (", CP-SAT" if options.solver else ""),
        seed=options.seed,
        cases=options.cases,
        differences=differences,
        allocated=sum(count for kind, count in seen.items() if kind.endswith("found")),
        seen=seen,
        seconds=seconds,
    )


if __name__ == "__main__":
    sys.exit(main())
