"""
Bounds refute only what cannot be.
"""

from __future__ import annotations

import pytest

from dra_alloc.solve.table.bounds import refuted
from tests.unit.solve.questions import ask, claim, device, request, table

A, B, C = (device(name, numa=number, serial=name) for number, name in enumerate("abc"))
PAIR = (device("a", numa=0, serial="x"), device("b", numa=0, serial="y"))


@pytest.mark.parametrize(
    ("devices", "asked", "bound"),
    [
        ((A, B), claim(ask(3)), "too-few-devices"),
        ((A, B), claim(ask(2)), None),
        ((A, B), claim(ask(1, numa=7)), "too-few-devices"),
        ((A, B), claim([ask(3), ask(2)]), None),
        ((A, B), claim([ask(3), ask(4)]), "too-few-devices"),
        ((A, B, C), claim(ask(2), match="numa"), "no-common-value"),
        ((*PAIR, C), claim(ask(2), match="numa"), None),
        ((A, B), claim(ask(1), ask(1), match="numa"), "no-common-value"),
        ((A, B), claim(ask(1), match="numa"), None),
        (
            (device("a", serial="x"), device("b", serial="x")),
            claim(ask(1), ask(1), distinct="serial"),
            "too-few-values",
        ),
        (PAIR, claim(ask(1), ask(1), distinct="serial"), None),
        ((A, B), claim(ask(1), ask(1), ask(1)), "too-few-devices-together"),
        ((A, B, C), claim(ask(1, numa=0), ask(1), ask(1)), None),
        (
            (A, B, C),
            claim(ask(1, numa=0), [ask(1, numa=0), ask(1, numa=1)], ask(1, numa=1)),
            "too-few-devices-together",
        ),
    ],
)
def test_a_bound_refutes_only_what_cannot_be(devices, asked, bound):
    assert refuted(table(request(devices, asked))) == bound


def test_shareable_devices_serve_several_requests():
    shared = device("a", shares=2)
    assert refuted(table(request([shared], claim(ask(1), ask(1))))) is None
    assert refuted(table(request([shared], claim(ask(2))))) == "too-few-devices"


def test_admin_access_does_not_need_a_device_of_its_own():
    assert refuted(table(request([A], claim(ask(1)), claim(ask(1, admin=True))))) is None


def test_a_device_without_a_value_agrees_with_itself_only():
    bare = device("a", numa=[])
    assert refuted(table(request([bare, B], claim(ask(1), match="numa")))) is None
    assert refuted(table(request([bare, B], claim(ask(2), match="numa")))) == "no-common-value"


def test_a_tainted_device_does_not_count():
    assert refuted(table(request([A, device("b", tainted=True)], claim(ask(2))))) == "too-few-devices"


@pytest.mark.parametrize(("third", "bound"), [(1, None), (0, "too-few-devices-together")])
def test_claims_that_match_side_by_side_need_whole_groups(third, bound):
    """Five devices of one value and one of another, or four and two, for three pairs: six would do without values."""
    devices = [device(name, numa=number) for name, number in zip("abcdef", (0, 0, 0, 0, 1, third), strict=True)]
    claims = [{**claim(ask(2), match="numa"), "metadata": {"name": f"c{number}"}} for number in range(3)]
    assert refuted(table(request(devices, *claims))) == bound
