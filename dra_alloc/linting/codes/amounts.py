"""
Capacity and counters: amounts where they do not belong, and more than there is.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dra_alloc.errors import first_few, in_brief
from dra_alloc.linting.codes.alternatives import weighed
from dra_alloc.linting.codes.takes import said, unknown_field
from dra_alloc.linting.looking import AskedDevices, Linting
from dra_alloc.linting.rules import Hit, LintRule


def _beyond(linting: Linting) -> Iterator[tuple[AskedDevices, Hit]]:
    """Yield amounts of a capacity that no candidate has, or not as much of it."""
    for claim in linting.claims:
        for asked in claim.asked:
            wanted = asked.model.capacity.requests if asked.model.capacity else {}
            found = linting.candidates(asked) if wanted and linting.published.devices else None
            if found is None or not found.exact or not found.devices:
                continue
            for name, amount in wanted.items():
                there = [
                    each.wire.capacity[key].value
                    for each in found.devices
                    for key in (name, name.removeprefix(f"{each.driver}/"), f"{each.driver}/{name}")
                    if key in each.wire.capacity
                ]
                path = (*asked.path, "capacity", "requests", name)
                if not there:
                    names = sorted({key for each in found.devices for key in each.wire.capacity})
                    hint = f"they have {first_few(names)}" if names else "they have no capacity"
                    yield asked, Hit(asked.written, path, f"no candidate has capacity {in_brief(name)}", hint)
                elif max(there) < amount:
                    most = f"the most that a candidate has is {max(there)}"
                    yield asked, Hit(asked.written, path, f"no candidate has {amount} of {in_brief(name)}", most)


RULES: Final = (
    LintRule(
        "Q401",
        "error",
        "an amount is a capacity, not an attribute",
        takes=unknown_field(r"attributes\[[^\]]*\]\.quantity"),
    ),
    LintRule(
        "Q402",
        "error",
        "a capacity or counter is an object with a value",
        takes=said("expected an object", r"(?:capacity|counters)\[[^\]]*\]"),
    ),
    LintRule(
        "Q403",
        "warning",
        "no candidate has as much of a capacity as is asked for",
        finds=weighed(_beyond),
    ),
)
