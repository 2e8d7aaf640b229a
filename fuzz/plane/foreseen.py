"""
What `what-if` says of a recorded change: who is evicted, and how many pods of each workload run after it.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from dra_alloc.cluster.edits.objects import states
from dra_alloc.cluster.settings import Settings
from dra_alloc.errors import ManifestError
from dra_alloc.manifest import Documents, load
from dra_alloc.scenario.answers import CheckOptions
from dra_alloc.scenario.check import check
from dra_alloc.scenario.what_if.reading import steps_in
from dra_alloc.scenario.what_if.what_if import WhatIf, WorkloadChange, after_steps, what_if
from fuzz.by_hand.running import documents

Json = dict[str, Any]
#: Orders of workloads that are tried at most.
_ORDERS: Final = 120


@dataclass(frozen=True)
class Foreseen:
    """The answer to one recorded change, and how it was asked."""

    answer: WhatIf
    options: CheckOptions

    @classmethod
    def of(cls, case: Json) -> Foreseen:
        """Return what is said of a case of `fuzz.plane.changing`. Raises: ManifestError."""
        settings = Settings(case["release"].rpartition(".")[0])
        before, after = states(documents(case["dump"]), Documents(), Documents(), settings)
        after, wrong = after_steps(after, steps_in({"steps": [case["step"]]})[0], load)
        if wrong:
            raise ManifestError(list(wrong))
        options = CheckOptions(settings)
        return cls(what_if(before, after, options), options)

    @property
    def gone(self) -> list[str]:
        """The names of the pods that lost their places."""
        return sorted({name.rpartition("/")[2] for each in self.answer.changes for name in each.evicted})

    @property
    def ran(self) -> Counter[str]:
        """How many pods run of each workload that has any, as `Kind/name`."""
        return +Counter({_called(each): each.after.running for each in self.answer.changes})

    @property
    def has_draws(self) -> bool:
        """Whether a pod found several nodes that were equal, of which the scheduler draws one."""
        return any(len(answer.equal) > 1 for each in self.answer.changes for answer in each.after.placed)

    def in_other_orders(self) -> Iterator[Counter[str]]:
        """
        Yield how many pods run if workloads have their turns in other orders.

        Controllers make pods anew beside each other, of which quotas let the first ones in, and pods that were refused
        before come back after a pause of their own: nothing says which of them is first.
        """
        asked = [each for each in self.answer.changes if each.after.asked]
        for order in itertools.islice(itertools.permutations(asked), _ORDERS):
            yield self._in_turns(order)

    def _in_turns(self, order: Sequence[WorkloadChange]) -> Counter[str]:
        now = self.answer.now
        assert now is not None
        owners = {answer.name: _called(each) for each in order for answer in each.after.asked}
        turns = tuple([frozenset(answer.name for answer in each.after.asked) for each in order])
        options = CheckOptions(self.options.settings, reasons=False, turns=turns)
        places = {_called(each): place for place, each in enumerate(order)}
        first = sorted(now.manifests.workloads, key=lambda it: places.get(f"{it.kind}/{it.metadata.name}", len(places)))
        manifests = replace(now.manifests, workloads=tuple(first), places={})
        counts = Counter({_called(each): len(each.after.runs) for each in self.answer.changes})
        for each in check(manifests, now.state.dump, options).placements:
            counts[owners.get(each.name, each.name)] += each.verdict == "allocated"
        return +counts


def _called(change: WorkloadChange) -> str:
    return f"{change.subject.kind}/{change.subject.name.rpartition('/')[2]}"
