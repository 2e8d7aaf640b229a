"""Slices of which rules see nothing but attributes and plain capacity."""

import pytest

from dra_alloc.api import ResourceSlice
from dra_alloc.manifest.make.layouts import Layout
from dra_alloc.manifest.make.outlines import outline_of
from dra_alloc.problem.devices import SliceRow


@pytest.mark.parametrize(
    ("amounts", "plain"),
    [(("8Gi",), True), (("0",), True), (("8Gi", "-1"), False), (("-1n",), False), ((), True)],
)
def test_capacity_is_plain_as_long_as_it_is_no_debt(amounts, plain):
    devices = [{"name": f"d{place}", "capacity": {"memory": {"value": each}}} for place, each in enumerate(amounts)]
    wire = ResourceSlice.from_wire({"metadata": {"name": "s"}, "spec": {"driver": "d", "devices": devices}})
    assert SliceRow(wire, 0).plain is plain
    assert SliceRow(wire, 0, layout=Layout(outline_of(wire.spec.devices))).plain is plain
