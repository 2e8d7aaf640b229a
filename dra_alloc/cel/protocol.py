"""
What an engine has to offer.
"""

from __future__ import annotations

from typing import Protocol

from dra_alloc.cel.check.types import CelType
from dra_alloc.cel.device import CelDevice
from dra_alloc.cel.reads import Read

__all__ = ["Compiler", "Selector"]


class Selector(Protocol):
    """
    A selector compiled by some engine; :class:`Program` is the native one.

    `max_cost` and `cost` are None where the engine has no notion of cost.
    """

    @property
    def expression(self) -> str:
        """The text that was compiled."""
        ...

    @property
    def output_type(self) -> CelType:
        """The static type, dyn where the engine checks none."""
        ...

    @property
    def max_cost(self) -> int | None:
        """What it can cost at most."""
        ...

    @property
    def reads(self) -> tuple[Read, ...]:
        """What of a device the answer can depend on."""
        ...

    def matches(self, device: CelDevice) -> bool:
        """Whether the device is selected; raises EvaluationError."""
        ...

    def cost(self, device: CelDevice) -> int | None:
        """What asking about the device costs."""
        ...


class Compiler(Protocol):
    """An engine in one environment; :class:`Environment` is the native one."""

    @property
    def lists(self) -> bool:
        """Whether list-typed attributes are decoded."""
        ...

    def compile(self, expression: str) -> Selector:
        """The selector of an expression; raises CompileError."""
        ...
