"""
What every kind of step has: what it takes, as a model, and the state after it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from pydantic import BaseModel, ConfigDict

from dra_alloc.errors import Problem, did_you_mean
from dra_alloc.manifest import Documents
from dra_alloc.scenario.fleet.shape import MachineShape
from dra_alloc.scenario.what_if.cluster_state import ClusterState

__all__ = ["StepKind", "Stepping"]


@dataclass(slots=True)
class Stepping:
    """Steps under way: how files are read, shapes of the scenario, what is wrong so far, with the path in the step."""

    load: Callable[[str], Documents]
    shapes: Mapping[str, MachineShape] = field(default_factory=dict)
    wrong: list[tuple[str, Problem]] = field(default_factory=list)

    def complain(self, path: str, message: str, hint: str = "") -> None:
        """Note what is wrong with the step."""
        self.wrong.append((path, Problem(message, hint=hint)))

    def knows(self, path: str, said: str, name: str, known: Collection[str]) -> bool:
        """Return whether a name is one of those; else it is a problem, which `said` begins."""
        if name in known:
            return True
        self.complain(path, f"{said} {name}", did_you_mean(name, known))
        return False


class StepKind(BaseModel):
    """What a step of one kind takes."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    def on(self, state: ClusterState, stepping: Stepping) -> ClusterState:
        """Return the state after the step; what is wrong with it goes to `stepping`."""
        raise NotImplementedError
