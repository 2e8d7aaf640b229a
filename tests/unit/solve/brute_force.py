"""
The best answer by trying every one.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

from dra_alloc.rules import Pick
from dra_alloc.solve.best.freedom import freedom_of
from dra_alloc.solve.best.objectives import Objective
from dra_alloc.solve.best.optimise import ranks_of
from dra_alloc.solve.question import Question
from dra_alloc.solve.table.build import build_table
from dra_alloc.solve.table.picking import Picking
from dra_alloc.solve.table.table import NotModelled, Table, bits
from dra_alloc.solve.table.trust import judged

MOST_ANSWERS = 3_000
Found = tuple[list[Pick], dict[Any, Any]]


def solutions(table: Table) -> Iterator[Found]:
    """Every solution, in the order of the search, by trying everything."""
    picking = Picking(table)

    def serve(slot, chosen):
        if slot == len(table.slots):
            yield [Pick(taken.ask.ask, table.devices[taken.device]) for taken in picking.picks], chosen
            return
        for each in table.slots[slot].asks:
            if each.possible and picking.has_room(each, each.count):
                place = (table.slots[slot].claim, table.slots[slot].request)
                yield from take(slot, each, 0, 0, {**chosen, place: each.ask})

    def take(slot, each, taken, start, chosen):
        if taken == each.count:
            yield from serve(slot + 1, chosen)
            return
        only = None if each.recorded is None else 1 << each.recorded[taken]
        for index in bits((only if only is not None else -1 << start) & picking.candidates(each)):
            if picking.take(each, index):
                again = table.reuses and not table.dedicated >> index & 1
                yield from take(slot, each, taken + 1, index + (not again), chosen)
                picking.give_back()

    answers: Iterator[Found] = serve(0, {})
    return answers


def answers_of(made: Question) -> list[Found]:
    """Every answer; NotModelled if there are too many to try."""
    rules = made.table_rules()
    answers = list(
        itertools.islice(solutions(judged(build_table(made.rows, made.candidates, rules), rules)), MOST_ANSWERS)
    )
    if len(answers) == MOST_ANSWERS:
        raise NotModelled("too many answers")
    return answers


def best_of(
    made: Question, objectives: Sequence[Objective], answers: Sequence[Found] | None = None
) -> tuple[list[int], list[Pick]] | None:
    """The values and picks of the first of the best of all answers; None if there is none, NotModelled if too many."""
    answers = answers_of(made) if answers is None else answers
    freedom = freedom_of(made)

    def values(answer: Found) -> list[int]:
        picks, chosen = answer
        ranks = ranks_of(made, chosen)
        return [objective.value(picks, ranks, freedom) for objective in objectives]

    best = min(answers, key=values, default=None)
    return None if best is None else (values(best), best[0])
