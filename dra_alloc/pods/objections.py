"""
Why a node cannot have a pod, in the scheduler's words and in numbers.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Shortfall:
    """A resource that the node has too little of: cpu in thousandths, all else in whole numbers."""

    resource: str
    asked: int
    used: int
    allocatable: int


@dataclass(frozen=True, slots=True)
class Objection:
    """
    What one filter has against a node.

    `code` is stable, `texts` are kube-scheduler's reasons, `detail` says what
    they leave out. With `lasting` no pod could be moved out of the way.
    """

    code: str
    texts: tuple[str, ...]
    detail: str = ""
    lasting: bool = True
    shortfalls: tuple[Shortfall, ...] = ()

    @property
    def text(self) -> str:
        """The scheduler's reasons, as it lists them."""
        return ", ".join(self.texts)
