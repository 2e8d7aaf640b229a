"""How near to the largest amount the one is that is told."""

from __future__ import annotations

import pytest

from dra_alloc.api import Quantity
from dra_alloc.explain.amounts import Lesser

NANO = 10**9


@pytest.mark.parametrize("limit", [1, 2, 63, 64, 65, 100, 4000, 6399, 6400])
@pytest.mark.parametrize("wanted", [65, 6401])
def test_it_fits_and_less_than_a_64th_of_the_distance_is_missing(wanted: int, limit: int) -> None:
    lesser = Lesser(0, "r", "c", Quantity.parse(str(wanted)), NANO, (NANO,))
    asked: list[int] = []

    def fits(amount: int) -> bool:
        asked.append(amount)
        return amount <= limit * NANO

    found, most = lesser.largest(fits), min(limit, wanted - 1)
    assert found // NANO <= most
    assert most - found // NANO <= max(1, (wanted - 1) // 64)
    assert len(asked) <= 1 + 6


def test_nothing_is_halved_where_nothing_fits() -> None:
    lesser = Lesser(0, "r", "c", Quantity.parse("8"), NANO, (NANO, 4 * NANO))
    assert lesser.largest(lambda amount: False) == 0
