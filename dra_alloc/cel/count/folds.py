"""
What comprehensions cost: the steps of the expanded tree, whether or not we take them.

Taking them all takes 2 to 3 times as long, and 4 to 5 times where a macro in a
macro in a macro runs into the cost limit.

Spec: CEL-32, CEL-33
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from dra_alloc.cel.count.attributes import PENDING, AttributeCounter, Binding
from dra_alloc.cel.errors import CelError
from dra_alloc.cel.plan.folds import iterate, iterate_pairs, walked
from dra_alloc.cel.plan.frame import UNSET, Failed
from dra_alloc.cel.syntax.ast import Call, Comprehension, ListNode, Node
from dra_alloc.cel.trampoline import Steps
from dra_alloc.cel.values.runtime import NO_SUCH_OVERLOAD, frozen

#: What the hidden steps around the predicate cost: the condition, then reading the accumulator.
_ALL_CONDITION, _EXISTS_CONDITION, _READ = 2, 3, 1
#: Comparing the count of ``exists_one`` with 1, and adding to it.
_COUNT_RESULT, _COUNT_MORE = 2, 2
#: A new list, and adding it to the accumulator.
_NEW_LIST, _APPEND = 10, 1
_NO_OVERLOAD: Final = Failed(CelError(NO_SUCH_OVERLOAD))


class FoldCounter(AttributeCounter):
    """Comprehensions; the macros of the standard library as loops that charge what their expansion would."""

    def fold(self, node: Comprehension) -> Steps[Any]:
        """The value of a comprehension."""
        outer = self.scope
        if node.macro == "bind":
            self.scope = Binding(node.accumulator, UNSET, outer, node.init)
            value = yield self.value(node.result)
        else:
            over = yield self.value(node.range)
            if type(over) is Failed:
                return over
            if self.settings.walks_empty_texts:
                over = walked(over)
            try:
                items = iterate_pairs(over) if node.var2 else iterate(over)
            except CelError as error:
                return Failed(error)
            value = yield from self._loop(node, items)
        self.scope = outer
        return value

    def _loop(self, node: Comprehension, items: Iterable[Any]) -> Steps[Any]:
        step = node.step
        if isinstance(step, Call):
            if node.macro in ("all", "exists"):
                return self._quantified(node, items, step.args[1])
            if node.macro == "exists_one":
                return self._counted(node, items, step.args[0])
            if node.macro in ("map", "filter") and not node.var2:
                return self._collected(node, items, step)
        return self._folded(node, items)

    def _enter(self, node: Comprehension, around: Binding | None, item: Any) -> None:
        """Bind the loop variables to `item`."""
        if node.var2:
            first, second = item
            self.scope = Binding(node.var2, second, Binding(node.var, first, around))
        else:
            self.scope = Binding(node.var, item, around)

    def _quantified(self, node: Comprehension, items: Iterable[Any], predicate: Node) -> Steps[Any]:
        decisive = node.macro == "exists"
        condition = _EXISTS_CONDITION if decisive else _ALL_CONDITION
        outer = self.scope
        found: Any = not decisive
        for item in items:
            self.charge_steps(condition)
            if found is decisive:
                break
            self._enter(node, outer, item)
            self.charge(_READ)
            value = self.quick(predicate)
            if value is PENDING:
                value = yield self.value(predicate)
            if value is decisive:
                found = decisive
            elif type(found) is not Failed and value is found:
                continue
            elif type(found) is not Failed:
                found = value if type(value) is Failed else _NO_OVERLOAD
        self.charge(_READ)
        return found

    def _counted(self, node: Comprehension, items: Iterable[Any], predicate: Node) -> Steps[Any]:
        outer, stops = self.scope, self.settings.stops_at_failure
        count: Any = 0
        for item in items:
            self._enter(node, outer, item)
            value = yield self.value(predicate)
            if value is True:
                ended = stops and type(count) is Failed
                self.charge_steps(_READ if ended else _COUNT_MORE)
                count = count if type(count) is Failed else count + 1
            elif value is not False:
                count = value if type(value) is Failed else _NO_OVERLOAD
        self.charge_steps(_COUNT_RESULT)
        return count if type(count) is Failed else count == 1

    def _collected(self, node: Comprehension, items: Iterable[Any], step: Call) -> Steps[Any]:
        condition = step.args[0] if step.function == "_?_:_" else None
        added = step.args[1] if condition is not None else step
        assert isinstance(added, Call)
        new = added.args[1]
        assert isinstance(new, ListNode)
        element = new.elements[0]
        new_list = 0 if new.id in self.plan.constants else _NEW_LIST
        outer, stops = self.scope, self.settings.stops_at_failure
        failed: Failed | None = None
        built: list[Any] = []
        for item in items:
            self._enter(node, outer, item)
            if condition is not None:
                value = yield self.value(condition)
                if value is not True:
                    if value is not False:
                        failed = value if type(value) is Failed else _NO_OVERLOAD
                    continue
            if stops and failed is not None:
                self.charge(_READ)
                continue
            value = yield self.value(element)
            self.charge_steps(_READ)
            if stops and type(value) is Failed:
                failed = value
                continue
            self.charge(new_list)
            self.charge_steps(_APPEND)
            if type(value) is Failed:
                failed = failed or value
            else:
                built.append(value)
        self.charge(_READ)
        return tuple(built) if failed is None else failed

    def _folded(self, node: Comprehension, items: Iterable[Any]) -> Steps[Any]:
        accumulator = Binding(node.accumulator, UNSET, self.scope, node.init)
        for item in items:
            self._enter(node, accumulator, item)
            proceed = yield self.value(node.condition)
            if proceed is False:
                break
            accumulator.value = yield self.value(node.step)
        self.scope = accumulator
        result = yield self.value(node.result)
        return frozen(result)
