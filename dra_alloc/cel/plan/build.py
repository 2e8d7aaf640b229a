"""
A checked tree as closures over a frame of slots.

Constants are folded the way upstream's planner does, which decides both what
fails at compile time and what is free.

Spec: CEL-19, CEL-23, CEL-25
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from dra_alloc.cel.check.checker import CONNECTIVES
from dra_alloc.cel.check.checking import Checked, Resolved
from dra_alloc.cel.check.unify import Unifier
from dra_alloc.cel.environments import UNDEFINED_TYPES, Declarations
from dra_alloc.cel.errors import CelError
from dra_alloc.cel.library.conversions import FOLDED
from dra_alloc.cel.library.messages import NULL_VALUE
from dra_alloc.cel.plan.attributes import Qualifier, attribute, domain_steps, domains_of
from dra_alloc.cel.plan.calls import apply, either_optional, once
from dra_alloc.cel.plan.dispatch import implementation, prepared
from dra_alloc.cel.plan.folds import Fold, exists_one_loop, fold, map_loop, over_texts, quantifier
from dra_alloc.cel.plan.frame import FIRST_SLOT, UNSET, Code, Frame, Run, constant, lazy, read_value
from dra_alloc.cel.plan.literals import build_list, build_map, build_message
from dra_alloc.cel.plan.logic import conditional, connective, equality, not_equal, not_strictly_false, ordered
from dra_alloc.cel.plan.membership import constant_set, in_set, text_in
from dra_alloc.cel.plan.qualifiers import bad_qualifier
from dra_alloc.cel.plan.rereading import whole
from dra_alloc.cel.syntax.ast import Call, Comprehension, Ident, ListNode, Literal, MapNode, Node, Select, StructNode
from dra_alloc.cel.trampoline import STRIDE, Steps, run
from dra_alloc.cel.values.runtime import started


class Planned(NamedTuple):
    """
    Compiled code, the number of slots it needs, how deep its calls nest, and of how many parts it is.

    `constants`, `calls` and `members` tell the counting evaluator what was
    folded, what answers each call, and which ``in`` became a set; calls in
    `eager` stop at the first operand that fails, uncharged.
    """

    run: Run
    slots: int
    depth: int
    constants: Mapping[int, Any]
    calls: Mapping[int, Callable[..., Any]]
    members: Mapping[int, frozenset[Any]]
    eager: frozenset[int]
    size: int

    def frame(self, device: Any) -> Frame:
        """What it runs on once, about a device."""
        return [device, 0, *([None] * (self.slots - FIRST_SLOT))]


class _Variable(NamedTuple):
    """A variable of a macro; `steps` lead to its value from the device, where that cannot fail."""

    name: str
    read: Run
    outer: _Variable | None
    steps: tuple[Qualifier, ...] = ()


def plan(checked: Checked, declared: Declarations, *, loops: bool = True) -> Planned:
    """
    The closures of `checked`; raises CelError for what upstream finds at program build.

    Without `loops` every comprehension is the general fold, so that nothing of
    the expanded tree is left out: the counting evaluator needs that.
    """
    planner = _Planner(checked, declared, loops)
    code = run(planner.code(checked.root))
    constants = {node: made.value for node, made in planner.done.items() if made.constant}
    eager, size = frozenset(planner.eager), len(planner.done)
    return Planned(code.run, planner.slots, planner.deepest, constants, planner.calls, planner.members, eager, size)


class _Planner:
    def __init__(self, checked: Checked, declared: Declarations, loops: bool) -> None:
        self.checked = checked
        self._loops = loops
        self.declared = declared
        self.slots = FIRST_SLOT
        self.calls: dict[int, Callable[..., Any]] = {}
        self.members: dict[int, frozenset[Any]] = {}
        self.eager: set[int] = set()
        self.deepest = 0
        self._depth = 0
        self._scope: _Variable | None = None
        self.done: dict[int, Code] = {}

    def code(self, node: Node) -> Steps[Code]:
        known = self.done.get(node.id)
        if known is not None:
            return known
        if isinstance(node, Literal):
            return self.literal(node)
        self._depth += 1
        self.deepest = max(self.deepest, self._depth)
        steps = _STEPS[type(node)](self, node)
        made = (yield from steps) if self._depth % STRIDE else (yield steps)
        self._depth -= 1
        self.done[node.id] = made
        return made

    def codes(self, nodes: Sequence[Node]) -> Steps[list[Code]]:
        made = []
        for node in nodes:
            if isinstance(node, Literal):
                made.append(self.literal(node))
                continue
            code = yield from self.code(node)
            made.append(code)
        return made

    def literal(self, node: Literal) -> Code:
        made = self.done[node.id] = constant(node.value)
        return made

    # Names and attributes

    def chain(self, node: Node) -> Steps[Code]:
        """Identifiers, selections and indices, collected down to what they start from."""
        steps: list[Qualifier] = []
        while True:
            if isinstance(node, Select) and node.id not in self.checked.names:
                steps.append(Qualifier(node.field, test=node.test))
                node = node.operand
                continue
            resolved = self.checked.calls.get(node.id)
            if resolved is None or resolved.function not in ("_[_]", "_[?_]", "_?._"):
                break
            step = yield from self.index(resolved)
            steps.append(step)
            node = resolved.args[0]
        steps.reverse()
        name = self.checked.names.get(node.id)
        if name is None:
            root = yield from self.code(node)
            return Code(attribute(root.run, steps, False))
        # Upstream takes whatever is typed as a type for the name of one, variables too.
        return self.named(name, steps, is_type=self.checked.types[node.id].kind == "type")

    def named(self, name: str, steps: list[Qualifier], *, is_type: bool) -> Code:
        variable = None if is_type else self.variable(name)
        name = name.removeprefix(".")
        if variable is not None and variable.steps and steps:
            return Code(attribute(_device, [*variable.steps, *steps], True))
        if variable is not None:
            read = whole(variable.read) if self.declared.settings.rereads_optionals else variable.read
            return Code(attribute(variable.read, steps, False) if steps else read)
        if name in self.declared.variables and not is_type:
            return Code(attribute(_device, steps, True) if steps else _device, domains=domains_of(steps))
        if name == NULL_VALUE:
            return constant(0)
        kind = self.declared.types.get(name)
        if kind is None or name in UNDEFINED_TYPES:
            raise CelError(f"reference to undefined type: {name}")
        # As a value, `list` is spelled with dyn, whatever its checker's type leaves open.
        value = constant(Unifier().substitute(kind.params[0] if kind.params else kind, free_to_dyn=True))
        return Code(attribute(value.run, steps, False)) if steps else value

    def variable(self, name: str) -> _Variable | None:
        """The innermost variable of a macro of this name."""
        variable = self._scope
        while variable is not None and variable.name != name:
            variable = variable.outer
        return variable

    def index(self, resolved: Resolved) -> Steps[Qualifier]:
        optional = resolved.function != "_[_]"
        part = resolved.args[1]
        key = self.literal(part) if isinstance(part, Literal) else (yield from self.code(part))
        if not key.constant:
            return Qualifier(run=key.run, optional=optional)
        bad = bad_qualifier(key.value)
        if bad is not None:
            raise CelError(bad)
        return Qualifier(key.value, optional=optional)

    # Calls

    def call(self, node: Call) -> Steps[Code]:
        resolved = self.checked.calls[node.id]
        function = resolved.function
        if function in ("_[_]", "_[?_]", "_?._"):
            chained: Code = yield from self.chain(node)
            return chained
        if function in CONNECTIVES:
            terms = yield from self.codes(self.terms(node, function))
            return Code(connective([term.run for term in terms], function == "_||_"))
        operands: list[Code] = yield from self.codes(resolved.operands)
        special = _SPECIAL.get(function)
        if special is not None:
            return Code(special(operands))
        if function in ("or", "orValue"):
            strict = self.declared.settings.strict_optionals
            return Code(either_optional(operands, unwrap=function == "orValue", strict=strict))
        if resolved.overloads == ("in_list",) and operands[1].constant:
            if not len(operands[1].value):
                return constant(False)
            members = constant_set(operands[1].value)
            if members is not None:
                self.members[node.id] = members
                return Code(in_set(operands[0].run, members))
        answer = self.calls[node.id] = self.answer(node, resolved, operands)
        if len(operands) == 1 and operands[0].constant and function in FOLDED:
            return constant(answer(operands[0].value))
        if operands and all(each.constant for each in operands):
            return Code(once(answer, [each.value for each in operands]))
        if function in _ORDERED and operands[1].constant and type(operands[1].value) is int:
            return Code(ordered(operands[0].run, _ORDERED[function], operands[1].value, answer))
        if function == "@in" and operands[0].constant and type(operands[0].value) is str:
            return Code(text_in(operands[0].value, operands[1], answer))
        return Code(apply(answer, operands))

    def answer(self, node: Node, resolved: Resolved, operands: list[Code]) -> Callable[..., Any]:
        """What answers the call; also notes whether upstream gives up at the first operand that fails."""
        declared = self.declared.functions[function := resolved.function]
        special = prepared(declared, _constants(operands))
        several = declared.run is None and len(resolved.overloads) > 1
        if declared.variadic or len(operands) > 2 or special is not None or several:
            self.eager.add(node.id)
        if special is not None:
            return special
        key = function, resolved.overloads
        known = self.declared.answers.get(key)
        if known is None:
            known = self.declared.answers[key] = implementation(declared, resolved.overloads)
        return known

    def terms(self, node: Node, function: str) -> list[Node]:
        """The operands of a chain of ``&&`` or ``||``, from left to right."""
        flat: list[Node] = []
        stack = [node]
        while stack:
            each = stack.pop()
            resolved = self.checked.calls.get(each.id)
            if resolved is not None and resolved.function == function:
                stack.extend(reversed(resolved.args))
            else:
                flat.append(each)
        return flat

    # Literals

    def list(self, node: ListNode) -> Steps[Code]:
        elements: list[Code] = yield from self.codes(node.elements)
        build = build_list([each.run for each in elements], node.optional)
        return constant(build([])) if all(each.constant for each in elements) else Code(build)

    def map(self, node: MapNode) -> Steps[Code]:
        parts = [part for entry in node.entries for part in (entry.key, entry.value) if not isinstance(part, str)]
        codes: list[Code] = yield from self.codes(parts)
        keys, values = codes[::2], codes[1::2]
        optional = frozenset(index for index, entry in enumerate(node.entries) if entry.optional)
        build = build_map([each.run for each in keys], [each.run for each in values], optional)
        return constant(build([])) if all(each.constant for each in codes) else Code(build)

    def struct(self, node: StructNode) -> Steps[Code]:
        values: list[Code] = yield from self.codes([entry.value for entry in node.entries])
        return Code(build_message(node, [each.run for each in values], self.declared.settings.optional_type))

    # Comprehensions

    def slot(self) -> int:
        self.slots += 1
        return self.slots - 1

    def fold(self, node: Comprehension) -> Steps[Code]:
        if node.macro == "bind":
            bound: Code = yield from self.bind(node)
            return bound
        over: Code = yield from self.code(node.range)
        if self.declared.settings.walks_empty_texts:
            over = Code(over_texts(over.run))
        outer = self._scope
        slots = (self.slot(), self.slot() if node.var2 else 0)
        accumulator = self.slot()
        init: Code = yield from self.code(node.init)
        self._scope = _Variable(node.accumulator, lazy(accumulator, _started(init.run)), outer)
        around = self._scope
        self._scope = _Variable(node.var, _read(slots[0]), self._scope)
        if node.var2:
            self._scope = _Variable(node.var2, read_value(slots[1]), self._scope)
        before = len(self.done)
        made: Run | None = yield from self.loop(node, over.run, slots)
        if made is None:
            condition: Code = yield from self.code(node.condition)
            step: Code = yield from self.code(node.step)
            self._scope = around
            result: Code = yield from self.code(node.result)
            weight = len(self.done) - before
            made = fold(Fold(over.run, *slots, accumulator, condition.run, step.run, result.run, weight))
        self._scope = outer
        return Code(made)

    def loop(self, node: Comprehension, over: Run, slots: tuple[int, int]) -> Steps[Run | None]:
        """A plain loop for a macro of the standard library, None for others."""
        step = node.step
        if not self._loops:
            return None
        before = len(self.done)
        if node.macro in ("all", "exists") and isinstance(step, Call):
            predicate: Code = yield from self.code(step.args[1])
            return quantifier(over, slots, predicate.run, node.macro == "exists", len(self.done) - before)
        if node.macro == "exists_one" and isinstance(step, Call):
            predicate = yield from self.code(step.args[0])
            return exists_one_loop(over, slots, predicate.run, len(self.done) - before)
        if node.macro not in ("map", "filter") or not isinstance(step, Call) or node.var2:
            return None
        condition: Code | None = None
        if step.function == "_?_:_":
            condition = yield from self.code(step.args[0])
            step = step.args[1]
        assert isinstance(step, Call)
        added = step.args[1]
        assert isinstance(added, ListNode)
        element: Code = yield from self.code(added.elements[0])
        found = condition.run if condition else None
        return map_loop(over, slots[0], found, element.run, len(self.done) - before)

    def bind(self, node: Comprehension) -> Steps[Code]:
        init: Code = yield from self.code(node.init)
        slot = self.slot()
        outer = self._scope
        steps = () if self.variable("device") else domain_steps(node.init, self.checked)
        self._scope = _Variable(node.accumulator, lazy(slot, init.run), outer, steps)
        # The step is the variable itself, never run; a variable that holds a type is refused all the same.
        yield from self.code(node.step)
        result: Code = yield from self.code(node.result)
        self._scope = outer
        body = result.run

        def bound(frame: Frame) -> Any:
            frame[slot] = UNSET
            return body(frame)

        return Code(bound)


_STEPS: Final[dict[type, Callable[[_Planner, Any], Steps[Code]]]] = {
    Ident: _Planner.chain,
    Select: _Planner.chain,
    Call: _Planner.call,
    ListNode: _Planner.list,
    MapNode: _Planner.map,
    StructNode: _Planner.struct,
    Comprehension: _Planner.fold,
}


def _constants(operands: list[Code]) -> dict[int, Any]:
    """The constant operands by position."""
    return {index: code.value for index, code in enumerate(operands) if code.constant}


def _device(frame: Frame) -> Any:
    return frame[0].value


def _read(slot: int) -> Run:
    def read(frame: Frame) -> Any:
        return frame[slot]

    return read


def _started(init: Run) -> Run:
    def run_init(frame: Frame) -> Any:
        return started(init(frame))

    return run_init


_ORDERED: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "_<_": operator.lt,
    "_<=_": operator.le,
    "_>_": operator.gt,
    "_>=_": operator.ge,
}
_SPECIAL: dict[str, Callable[[list[Code]], Run]] = {
    "_?_:_": lambda codes: conditional(codes[0].run, codes[1].run, codes[2].run),
    "_==_": lambda codes: equality(codes[0].run, codes[1].run, (codes[1].constant, codes[1].value)),
    "_!=_": lambda codes: not_equal(codes[0].run, codes[1].run),
    "@not_strictly_false": lambda codes: not_strictly_false(codes[0].run),
}
