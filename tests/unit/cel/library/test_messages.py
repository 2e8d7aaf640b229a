"""What vectors cannot show of messages: bounds, sharing, and types that travel."""

from __future__ import annotations

import pickle

import pytest

from dra_alloc import cel
from dra_alloc.cel.check.types import INT, list_of, wrapper
from dra_alloc.cel.library.messages import MESSAGES
from tests.unit.cel.evaluator import answer, value

RELEASES = ("1.34.10", "1.36.2", "1.37.0")


@pytest.mark.parametrize("name", sorted(MESSAGES.keys() - {"google.protobuf.Any"}))
@pytest.mark.parametrize("release", RELEASES)
def test_every_message_can_be_built_with_nothing_set(name: str, release: str) -> None:
    assert value(f"dyn({name}{{}}) == dyn({name}{{}})", release) is True


@pytest.mark.parametrize("field", [f"{name} {field}" for name, each in MESSAGES.items() for field in each.fields])
def test_every_field_refuses_what_it_cannot_hold(field: str) -> None:
    name, _, member = field.partition(" ")
    assert answer(f"dyn({name}{{{member}: dyn(net.IP)}}) == 1").error.startswith(("field type", "unsupported field"))


def test_lists_that_occur_many_times_over_are_converted_once() -> None:
    text = "google.protobuf.ListValue{values: x40}.size() == 2"
    for level in range(40, 0, -1):
        text = f"cel.bind(x{level}, [x{level - 1}, x{level - 1}], {text})"
    assert value(f"cel.bind(x0, [1], {text})") is True


def test_a_wrapper_is_its_type_but_for_null() -> None:
    wrapped = list_of(wrapper(INT))
    assert wrapped != list_of(INT)
    assert wrapped.plain == list_of(INT)
    assert pickle.loads(pickle.dumps(wrapped)) == wrapped
    assert str(wrapped) == "list(wrapper(int))"


def test_what_was_said_of_a_type_is_not_said_of_its_wrapper() -> None:
    environment = cel.environment("1.36")
    with pytest.raises(cel.CompileError):
        environment.compile("1 == null")
    assert environment.compile("google.protobuf.Int32Value{value: 1} == null").max_cost == 41
