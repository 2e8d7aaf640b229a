"""
Answers of the direct engine to results, put together where somebody looks at them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from dra_alloc.api import AllocationResult
from dra_alloc.rules import Pick
from dra_alloc.solve.assemble import Forms, assemble, forms_of
from dra_alloc.solve.direct import Answer, picks_of
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
                picks = picks_of(admitted.asks, view.slices, choice)
            forms = admitted.forms.get(choice.served) or serving(self._survey, admitted, choice.served)
            known = admitted.rows, choice, assemble(admitted.rows, picks, forms, view.node, self._new_share_id)
            for _, device in picks:
                if device.shareable:
                    break  # Every share has an id of its own.
            else:
                view.told = known
        return known[2]


def serving(survey: Survey, admitted: Admitted, served: tuple[int, ...]) -> Forms:
    """Return what results have in common where these alternatives serve the claims."""
    forms = admitted.forms.get(served)
    if forms is None:
        asks = iter(served)
        selected = {
            (row.index, number): admitted.asks[next(asks)]
            for row in admitted.rows
            for number, _ in enumerate(row.requests)
        }
        if len(admitted.forms) >= _MOST_FORMS:
            admitted.forms.clear()
        plan = admitted.plan
        consumed = None if plan is None else survey.consumed(plan)
        forms = admitted.forms[served] = forms_of(admitted.rows, selected, survey.profile, consumed)
    return forms
