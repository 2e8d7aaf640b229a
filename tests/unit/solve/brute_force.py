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


def solutions(table: Table) -> Iterator[tuple[list[Pick], dict[Any, Any]]]:
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

    answers: Iterator[tuple[list[Pick], dict[Any, Any]]] = serve(0, {})
    return answers


def best_of(made: Question, objectives: Sequence[Objective]) -> tuple[list[int], list[Pick]] | None:
    """The values and picks of the first of the best answers; None if there is none, NotModelled if too many to try."""
    rules = made.table_rules()
    table = judged(build_table(made.rows, made.candidates, rules), rules)
    freedom = freedom_of(made)
    answers = list(itertools.islice(solutions(table), MOST_ANSWERS))
    if len(answers) == MOST_ANSWERS:
        raise NotModelled("too many answers")

    def values(answer):
        picks, chosen = answer
        ranks = ranks_of(made, chosen)
        return [objective.value(picks, ranks, freedom) for objective in objectives]

    best = min(answers, key=values, default=None)
    return None if best is None else (values(best), best[0])
