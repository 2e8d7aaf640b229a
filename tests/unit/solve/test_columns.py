"""
Slices read off at one glance are told apart exactly as column by column, in whatever form they come.
"""

from __future__ import annotations

import random
from itertools import islice
from threading import Thread

import pytest

from dra_alloc.api import ResourceSlice
from dra_alloc.cel.reads import WHOLE, Read
from dra_alloc.manifest.make.records import slice_from_plain
from dra_alloc.problem.devices import SliceRow
from dra_alloc.solve import columns as columns_module
from dra_alloc.solve.columns import AMOUNTS, Columns
from dra_alloc.testing.cases import random_requests
from dra_alloc.testing.drawing.dialect import Dialect

DRIVER = "d.example.com"
READS = (
    Read("attribute", DRIVER, "model"),
    Read("attribute", "other.example.com", "numa"),
    Read("attribute domain", DRIVER),
    Read("capacity", DRIVER, "memory"),
    Read("driver"),
    Read("multi"),
    AMOUNTS,
)
VALUES = ({"string": "a"}, {"string": "1"}, {"int": 1}, {"bool": True}, {"version": "1.0.0"}, {"version": "x"})


def _wire(draw: random.Random, number: int) -> dict[str, object]:
    """Return a slice of devices with few attributes, spelt in both ways, so that many slices are alike."""
    names = [f"{DRIVER}/model", "model", "other.example.com/numa", "numa"]
    usual = draw.sample(names, 2)
    devices = [
        {
            "name": f"gpu-{number}-{index}",
            "attributes": {name: draw.choice(VALUES[: 1 + number % 6]) for name in usual if draw.random() < 0.95},
            **({"capacity": {"memory": {"value": draw.choice(["1Gi", "1024Mi"])}}} if number % 3 == 0 else {}),
            **({"taints": [{"key": "k", "effect": "NoSchedule"}]} if draw.random() < 0.1 else {}),
        }
        for index in range(draw.randint(1, 2))
    ]
    pool = {"name": f"p{number}", "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": DRIVER, "pool": pool, "nodeName": "n", "devices": devices}
    return {"metadata": {"name": f"s{number}"}, "spec": spec}


def _groups(numbers: list[object]) -> list[int]:
    """Return for each the place of the first that is equal to it."""
    return [numbers.index(each) for each in numbers]


def _check(rows: list[SliceRow], reads: tuple[Read | str, ...], columns: Columns) -> None:
    lens = columns.lens(reads, lists=False)
    seen: list[object] = [lens.signature(row) for row in rows]
    apart: list[object] = [(row.driver, *[column.token(row) for column in lens.columns]) for row in rows]
    assert _groups(seen) == _groups(apart)


@pytest.mark.parametrize("form", [slice_from_plain, ResourceSlice.from_wire], ids=["records", "models"])
def test_one_glance_tells_apart_what_columns_tell_apart(form):
    draw = random.Random(1)
    rows = [SliceRow(form(_wire(draw, number)), number) for number in range(200)]
    columns = Columns()
    for count in range(len(READS) + 1):
        # Questions come one after the other, and each may read something new.
        _check(rows, READS[:count], columns)
    assert 3 < len({columns.lens(READS[:1], lists=False).signature(row) for row in rows}) < 100


def test_slices_of_any_kind_are_told_apart():
    wires = [each for request in islice(random_requests(5, Dialect("1.36")), 40) for each in request["slices"]]
    rows = [SliceRow(slice_from_plain(each), number) for number, each in enumerate(wires)]
    names = sorted({name for row in rows for device in row.wire.spec.devices for name in device.attributes})
    reads = [Read("attribute", *(name.split("/") if "/" in name else (rows[0].driver, name))) for name in names]
    columns = Columns()
    for read in reads:
        _check(rows, (read, AMOUNTS), columns)


def test_a_slice_that_stands_alone_keeps_its_number():
    row = SliceRow(slice_from_plain(_wire(random.Random(2), 0)), 0)
    other = SliceRow(slice_from_plain(_wire(random.Random(2), 0)), 1)
    columns = Columns()
    whole = columns.lens(WHOLE, lists=False)
    number = whole.signature(row)
    columns.lens(READS, lists=False).signature(row)
    assert whole.signature(row) == number != whole.signature(other)


def test_devices_are_not_looked_at_again_for_what_is_known():
    row = SliceRow(slice_from_plain(_wire(random.Random(3), 1)), 0)
    columns = Columns()
    columns.lens(READS, lists=False).signature(row)
    row.wire = None  # type: ignore[assignment]  # whoever looks at it, fails
    numbers = {columns.lens(READS[:count], lists=False).signature(row) for count in range(len(READS))}
    assert len(numbers) > 1


def test_glances_that_begin_at_the_same_time_leave_no_column_out(monkeypatch):
    columns = Columns()
    row, other = (SliceRow(slice_from_plain(_wire(random.Random(4), 1)), number) for number in range(2))
    thread = Thread(target=lambda: columns.lens(READS[:2], lists=False).signature(other))

    def slow(*given):
        if thread.ident is None:
            # Another thread asks more while the first is about to note what to look at.
            thread.start()
            thread.join(0.1)
        return made(*given)

    made = columns_module._Glance
    monkeypatch.setattr(columns_module, "_Glance", slow)
    columns.lens(READS[:1], lists=False).signature(row)
    thread.join()
    later = columns.lens(READS[:3], lists=False)
    assert later.signature(other) == later.signature(row)


def test_what_is_remembered_has_an_end(monkeypatch):
    """Starting anew tells slices apart as before."""
    draw = random.Random(7)
    wires = [_wire(draw, number) for number in range(60)]

    def rows():
        return [SliceRow(slice_from_plain(wire), number) for number, wire in enumerate(wires)]

    columns = Columns()
    _check(rows(), READS, columns)
    assert any(len(glance.known) > 3 for glance in columns._glances[1])
    monkeypatch.setattr(columns_module, "_MOST_LOOKS", 3)
    columns = Columns()
    _check(rows(), READS, columns)
    assert all(len(glance.known) <= 3 for glance in columns._glances[1])
