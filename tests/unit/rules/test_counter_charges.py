"""
What is drawn on counters where amounts are held by reference.
"""

from __future__ import annotations

import pytest

from dra_alloc.api import ResourceSlice
from dra_alloc.problem.devices import DeviceRow, SliceRow
from dra_alloc.rules.counters.charges import Charges, SharedCharges

NAME = ("cs", "m")
TERA = 2**40 * 10**9


def devices(*amounts: str) -> list[DeviceRow]:
    """Devices that draw these amounts on one counter."""
    uses = [[{"counterSet": "cs", "counters": {"m": {"value": each}}}] for each in amounts]
    spec = {
        "driver": "d",
        "nodeName": "n",
        "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1},
        "devices": [{"name": f"x{number}", "consumesCounters": use} for number, use in enumerate(uses)],
    }
    wire = ResourceSlice.model_validate({"metadata": {"name": "s"}, "spec": spec})
    return list(SliceRow(wire, 0).devices)


@pytest.mark.parametrize("kind", [Charges, SharedCharges])
def test_amounts_that_are_no_references_come_and_go(kind):
    first, second = devices("1Ti", "2Ti")
    charges = kind()
    for device in (first, second):
        charges.draw("b", device)
    assert charges.of("b") == {NAME: 3 * TERA}
    charges.give_back("b", first)
    assert charges.of("b") == {NAME: 2 * TERA}
    charges.draw("b", first)
    assert charges.of("b") == {NAME: 3 * TERA}


def test_the_first_device_takes_what_all_take_and_nothing_once_it_was_given_back():
    first, second = devices("100Ti", "200Ti")
    charges = SharedCharges()
    charges.draw("b", first)
    charges.draw("b", second)
    assert charges.of("b") == {NAME: 300 * TERA}
    charges.give_back("b", first)  # it lends its amount, which is what all draw by now
    assert charges.of("b") == {NAME: 0}
    charges.draw("b", second)
    charges.draw("b", first)
    assert charges.of("b") == {NAME: 400 * TERA}


def test_a_device_that_comes_later_keeps_its_amount():
    first, second = devices("1Ti", "200Ti")
    charges = SharedCharges()
    charges.draw("b", first)
    charges.draw("b", second)
    charges.give_back("b", second)
    charges.draw("b", second)
    assert charges.of("b") == {NAME: 201 * TERA}


def test_without_references_the_same_would_be_drawn_again():
    first, second = devices("100Ti", "200Ti")
    charges = Charges()
    charges.draw("b", first)
    charges.draw("b", second)
    charges.give_back("b", first)
    assert charges.of("b") == {NAME: 200 * TERA}
