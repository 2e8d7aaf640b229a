"""
A compiled selector: immutable, shared between threads, asked device by device.

Spec: CEL-6, CEL-27, CEL-32, CEL-34
"""

from __future__ import annotations

from typing import Any, Final

from dra_alloc.cel.check.types import CelType
from dra_alloc.cel.compiler import Compiled, Refused, compile_expression, not_bool
from dra_alloc.cel.count.counting import count
from dra_alloc.cel.count.estimate import Estimator
from dra_alloc.cel.count.must_count import must_count
from dra_alloc.cel.count.nested import NestedEstimator
from dra_alloc.cel.device import CelDevice
from dra_alloc.cel.environments import Declarations
from dra_alloc.cel.errors import CelAbort, CelError, EvaluationError
from dra_alloc.cel.plan.build import Planned, plan
from dra_alloc.cel.plan.frame import WORK, Failed, Frame
from dra_alloc.cel.reads import Read, reads_of
from dra_alloc.cel.values.runtime import Optional, native_error, type_name
from dra_alloc.errors import InputError
from dra_alloc.work import is_counted, owe, spend

#: What one evaluation may cost.
COST_LIMIT: Final = 1_000_000
#: Deeper code runs on the heap: Python's own stack is the host's.
_MAX_CLOSURE_DEPTH: Final = 120
#: How many parts of an expression are evaluated for a unit of work, as a power of two.
_PARTS: Final = 4
#: Stands for answers that can differ from device to device.
_VARIES: Final = object()


class Program:
    """
    A selector compiled for one environment.

    What is derived from the checked tree is worked out when it is first asked
    for. Two threads may both do so, with the same result.
    """

    __slots__ = (
        "__weakref__",
        "_alone",
        "_blank",
        "_compiled",
        "_counting",
        "_declared",
        "_max_cost",
        "_reads",
        "_whole",
        "expression",
        "output_type",
    )

    #: What it says of every device that can be read, if that is the same; None as long as nobody has looked.
    _alone: Any
    #: What it runs on, without a device.
    _blank: Frame
    _compiled: Compiled
    #: None as long as nobody has looked.
    _counting: bool | None
    _declared: Declarations
    _max_cost: int | None
    _reads: tuple[Read, ...] | None
    _whole: Planned | None
    expression: str
    output_type: CelType

    def __init__(self, expression: str, declared: Declarations, refused: Refused = not_bool) -> None:
        compiled = compile_expression(expression, declared, refused)
        set_member = object.__setattr__
        set_member(self, "expression", expression)
        set_member(self, "output_type", compiled.checked.output_type)
        set_member(self, "_alone", None)
        set_member(self, "_blank", compiled.plan.frame(None))
        set_member(self, "_compiled", compiled)
        set_member(self, "_declared", declared)
        set_member(self, "_max_cost", None)
        set_member(self, "_reads", None)
        set_member(self, "_whole", None)
        set_member(self, "_counting", None)

    @property
    def max_cost(self) -> int:
        """The static estimate that admission compares with `COST_LIMIT`; where it stays below, nothing is counted."""
        found = self._max_cost
        if found is None:
            kind = NestedEstimator if self._declared.settings.nested_sizes else Estimator
            found = kind(self._compiled.checked, self._declared.functions).most()
            object.__setattr__(self, "_max_cost", found)
        return found

    @property
    def reads(self) -> tuple[Read, ...]:
        """Everything of a device that the answer can depend on."""
        found = self._reads
        if found is None:
            found = reads_of(self._compiled.checked, self._compiled.plan.constants)
            object.__setattr__(self, "_reads", found)
        return found

    def _counts(self) -> bool:
        """Whether every evaluation must be counted."""
        found = self._counting
        if found is None:
            compiled = self._compiled
            found = (
                compiled.plan.depth > _MAX_CLOSURE_DEPTH
                or self.max_cost > COST_LIMIT
                or must_count(compiled.checked, self._declared.functions, self.max_cost, COST_LIMIT)
            )
            object.__setattr__(self, "_counting", found)
        return found

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"Program is immutable: cannot set {name}")

    def __repr__(self) -> str:
        return f"Program({self.expression!r}, {self.output_type}, max_cost={self.max_cost})"

    def matches(self, device: CelDevice) -> bool:
        """
        Whether the selector selects `device`; one that reads nothing of it is evaluated once for all.

        Raises: EvaluationError with upstream's text; upstream then aborts the
        allocation, it does not skip the device. BudgetExhausted if a command
        has no work left for it.
        """
        try:
            problem = device.problem
        except AttributeError:
            raise InputError(f"device has to be what prepare_device returns, not {type(device).__name__}") from None
        if problem:
            raise EvaluationError(problem)
        if self._alone is not _VARIES:
            return self._of_all(device)
        if self._counting is not False and self._counts():
            return self._decide(self.counted(device)[0])
        try:
            value = self._run(device)
        except RecursionError:
            value = self.counted(device)[0]
        return value if value is True or value is False else self._decide(value)

    def _of_all(self, device: CelDevice) -> bool:
        """What is said of any device; found out with this one, unless the answer can depend on it."""
        known = self._alone
        if known is None and self.reads:
            object.__setattr__(self, "_alone", _VARIES)
            return self.matches(device)
        if known is None:
            _, known = self.weigh(device)
            object.__setattr__(self, "_alone", known)
        if isinstance(known, EvaluationError):
            raise EvaluationError(known.text)
        return known is True

    def _run(self, device: CelDevice) -> Any:
        plan = self._compiled.plan
        # A call in Python fewer for each device where nobody counts.
        if is_counted():
            spend(1 + (plan.size >> _PARTS))
        frame = self._blank.copy()
        frame[0] = device
        try:
            return plan.run(frame)
        except (CelError, CelAbort) as error:
            raise EvaluationError(error.text) from None
        finally:
            if frame[WORK]:
                owe(frame[WORK] >> _PARTS)

    def evaluate(self, device: CelDevice) -> Any:
        """
        The value of the expression, which need not be a selector.

        Raises: EvaluationError with upstream's text.
        """
        if device.problem:
            raise EvaluationError(device.problem)
        if not self._counts():
            try:
                return self._run(device)
            except RecursionError:
                pass  # counted on the heap, as what is too deep from the start
        value = self.counted(device)[0]
        if type(value) is Failed:
            raise EvaluationError(value.error.text)
        return value

    def counted(self, device: CelDevice, limit: int = COST_LIMIT) -> tuple[Any, int]:
        """The raw value (a ``Failed`` if there is none) and the counted cost."""
        compiled = self._compiled
        whole = self._whole
        if whole is None:
            # Two threads may both build it; either result is as good.
            whole = plan(compiled.checked, self._declared, loops=False)
            object.__setattr__(self, "_whole", whole)
        spend(1)
        value, cost = count(compiled.checked, whole, self._declared, device.value, limit)
        owe(cost)
        return value, cost

    def cost(self, device: CelDevice) -> int:
        """What evaluating the selector on `device` costs, errors included; 0 if the device cannot be decoded."""
        return 0 if device.problem else self.counted(device)[1]

    def weigh(self, device: CelDevice) -> tuple[int, bool | EvaluationError]:
        """What evaluating on `device` costs and what comes of it, in one pass; an error stands for itself."""
        if device.problem:
            return 0, EvaluationError(device.problem)
        value, cost = self.counted(device)
        try:
            return cost, self._decide(value)
        except EvaluationError as error:
            return cost, error.with_traceback(None)

    def _decide(self, value: Any) -> bool:
        inner = value
        while isinstance(inner, Optional) and inner.present:
            inner = inner.value
        if inner is True or inner is False:
            return bool(inner)
        if type(value) is Failed:
            raise EvaluationError(value.error.text)
        raise EvaluationError(not_a_bool(value))


def not_a_bool(value: Any) -> str:
    """Upstream's text for a result that is no bool."""
    name = type_name(value)
    while isinstance(value, Optional) and value.present:
        value = value.value
    reason = "optional.none() dereference" if isinstance(value, Optional) else native_error(value, "bool").text
    return f"CEL result of type {name} could not be converted to bool: {reason}"
