"""
Who selects devices by expressions, with others in their place, and values in these that devices spell otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, NamedTuple, TypeAlias

from dra_alloc.api import DeviceSelector, FrozenMap
from dra_alloc.explain.expressions import reads
from dra_alloc.explain.facts import Whose, called
from dra_alloc.explain.world import World, edit_requests
from dra_alloc.rules import describe

_TEXT: Final = re.compile(r'"([^"\\]+)"')
_NO_LETTERS: Final = re.compile(r"[-_\s]")

_Edit: TypeAlias = Callable[[Sequence[Any]], tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class Selecting:
    """Who has selectors, a request of a claim or a class: what it is called, and these."""

    called: str
    selectors: Sequence[DeviceSelector]
    index: int = -1
    request: str = ""
    device_class: str = ""

    @property
    def whose(self) -> Whose:
        """Return whose affair a change to a selector is."""
        return Whose.CLUSTER if self.device_class else Whose.MANIFEST

    @property
    def expressions(self) -> tuple[str, ...]:
        """Return the expressions in their order; that of a selector without is empty."""
        return tuple([each.cel.expression if each.cel is not None else "" for each in self.selectors])


def selecting(world: World) -> Iterator[Selecting]:
    """Yield every request of the world's claims, then the classes that these name."""
    asks = list(world.asks())
    for index, name, ask in asks:
        yield Selecting(called(world, index, name), ask.selectors, index, name)
    for name in dict.fromkeys(ask.device_class_name for _, _, ask in asks):
        found = world.classes.get(name)
        if found is not None:
            yield Selecting(f"class {name}", found.spec.selectors, device_class=name)


def in_other_words(world: World, owners: Sequence[Selecting], edit: _Edit) -> World:
    """Return the world with the selectors of some requests and classes edited, each list of them at once."""
    places = {(each.index, each.request) for each in owners}
    classes = {
        each.device_class: (found := world.classes[each.device_class]).replaced(
            spec=found.spec.replaced(selectors=edit(found.spec.selectors))
        )
        for each in owners
        if each.device_class
    }

    def of_request(index: int, name: str, ask: Any) -> Any:
        return ask.model_copy(update={"selectors": edit(ask.selectors)}) if (index, name) in places else ask

    return edit_requests(world.having(classes=FrozenMap({**world.classes, **classes})), of_request)


class Spelling(NamedTuple):
    """A value written as devices have it: how that is said, whose affair it is, and the change."""

    step: str
    whose: Whose
    change: Callable[[World], World]


def other_spellings(world: World) -> Iterator[Spelling]:
    """Yield the values in selectors that no device has, and one has in other letters: large or small, with dashes."""
    for owner in selecting(world):
        found = {wrong: right for each in owner.expressions for wrong, right in _misspelt(world, each)}
        for wrong, right in found.items():
            edit = partial(_respelt, wrong=wrong, right=right)
            change = partial(in_other_words, owners=[owner], edit=edit)
            yield Spelling(f'writing "{right}" for "{wrong}" in {owner.called}', owner.whose, change)


def _misspelt(world: World, expression: str) -> Iterator[tuple[str, str]]:
    """Yield the values in an expression that no device has of what it reads, each with what comes close to it."""
    texts = _TEXT.findall(expression)
    names = {f"{each.domain}/{each.name}" for each in reads(expression) if each.kind == "attributes"}
    if not texts or not names:
        return
    devices = [device for row in world.rows() for device in row.devices]
    values = {describe(value) for device in devices for name in names if (value := device.attribute(name)) is not None}
    alike = {_letters(each): each for each in sorted(values)}
    for text in texts:
        if text not in values and _letters(text) in alike:
            yield text, alike[_letters(text)]


def _letters(text: str) -> str:
    return _NO_LETTERS.sub("", text).casefold()


def _respelt(selectors: Sequence[Any], wrong: str, right: str) -> tuple[Any, ...]:
    """Return selectors with a value written otherwise."""
    return tuple(
        [
            each
            if each.cel is None
            else type(each).from_wire({"cel": {"expression": each.cel.expression.replace(f'"{wrong}"', f'"{right}"')}})
            for each in selectors
        ]
    )
