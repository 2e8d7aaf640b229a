"""
Answers of the direct engine to results, put together where somebody looks at them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from dra_alloc.api import AllocationResult, Node
from dra_alloc.rules import Pick
from dra_alloc.solve.assemble import Assembly, assemble, forms_of
from dra_alloc.solve.direct import Answer, Picks
from dra_alloc.solve.masks.board import BoardAnswer
from dra_alloc.solve.survey import Survey
from dra_alloc.solve.views import Admitted

#: Ways to serve claims of which it is remembered what results have in common.
_MOST_FORMS: Final = 4


class Results:
    """Assembles the results of an answer for the claims at hand."""

    __slots__ = ("_answer", "_new_share_id", "_survey")

    def __init__(self, answer: Answer, survey: Survey, new_share_id: Callable[[], str]) -> None:
        self._answer = answer
        self._survey = survey
        self._new_share_id = new_share_id

    def __call__(self, picks: tuple[Pick, ...] | None = None) -> tuple[AllocationResult, ...]:
        """Return one result per claim, made once where a node is asked again for the same choice and requests."""
        admitted, view, choice, _ = self._answer
        known = view.told
        if known is None or known[0] is not admitted.rows or known[1] is not choice:
            if picks is None:
                picks = Picks(admitted.asks, view.slices, choice)()
            amounts = partial(self._survey.share_of, admitted.plan)
            assembly = Assembly(self._survey.profile, self._new_share_id, amounts)
            known = admitted.rows, choice, assembled(admitted, choice, picks, view.node, assembly)
            if not any(device.shareable for _, device in picks):
                # Every share has an id of its own.
                view.told = known
        return known[2]


def assembled(
    admitted: Admitted, choice: BoardAnswer, picks: tuple[Pick, ...], node: Node, assembly: Assembly
) -> tuple[AllocationResult, ...]:
    """Return one result per claim for a choice."""
    forms = admitted.forms.get(choice.served)
    if forms is None:
        served = iter(choice.served)
        selected = {
            (row.index, number): admitted.asks[next(served)]
            for row in admitted.rows
            for number, _ in enumerate(row.requests)
        }
        if len(admitted.forms) >= _MOST_FORMS:
            admitted.forms.clear()
        forms = admitted.forms[choice.served] = forms_of(admitted.rows, selected, assembly.profile)
    return assemble(admitted.rows, picks, forms, node, assembly)
