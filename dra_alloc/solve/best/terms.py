"""
Objectives as linear terms over the model of a table.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from dra_alloc.solve.best.freedom import Freedom, sizes
from dra_alloc.solve.best.objectives import Cheapest, FewestNodes, HighestRanked, LeastFragmented, Objective, Stable
from dra_alloc.solve.cpsat.model import TableModel

#: Weighted variables, and a constant.
Terms: TypeAlias = tuple[list[tuple[int, int]], int]


def terms_of(objective: Objective, model: TableModel, freedom: Freedom) -> Terms:
    """
    Return the objective's value as terms; new variables are added to the model as needed.

    Raises: TypeError for an objective that has no encoding.
    """
    encode = _ENCODINGS.get(type(objective))
    if encode is None:
        raise TypeError(f"objective {objective.name} has no encoding for CP-SAT")
    return encode(objective, model, freedom)


def _ranks(objective: HighestRanked, model: TableModel, freedom: Freedom) -> Terms:
    return [(model.chosen[ask.id], rank) for slot in model.table.slots for rank, ask in enumerate(slot.asks) if rank], 0


def _prices(objective: Cheapest, model: TableModel, freedom: Freedom) -> Terms:
    devices = model.table.devices
    priced = {device: objective.device(devices[device]) for _, device in model.picked}
    return [
        (literal, priced[device])
        for (_, device), literals in model.picked.items()
        for literal in literals
        if priced[device]
    ], objective.node(freedom.node)


def _node(objective: FewestNodes, model: TableModel, freedom: Freedom) -> Terms:
    return [], objective.value((), (), freedom)


def _kept(objective: Stable, model: TableModel, freedom: Freedom) -> Terms:
    table = model.table
    index = {device.key: number for number, device in enumerate(table.devices)}
    terms = []
    wanted = objective.wanted(freedom.claims)
    for ask in table.asks:
        for key in wanted.get((freedom.claims[ask.ask.claim], ask.ask.full_name), ()):
            literals = model.picked.get((ask.id, index[key])) if key in index else None
            if literals:
                terms.append((literals[0], -1))
    return terms, sum(map(len, wanted.values()))


def _lost(objective: LeastFragmented, model: TableModel, freedom: Freedom) -> Terms:
    """Let a variable per free device say that it stays free: as if it were picked last and alone."""
    table = model.table
    index = {device: number for number, device in enumerate(table.devices)}
    draw_of = {label: number for number, label in enumerate(table.labels)}
    numbers = [draw_of.get(draw.label) for draw in freedom.counters]
    literals: dict[int, list[int]] = {}
    for (_, position), picked in model.picked.items():
        literals.setdefault(position, []).extend(picked)
    terms: list[tuple[int, int]] = []
    total = 0
    for device, size in sizes(freedom).items():
        drawn = [
            (number, amount)
            for draw, amount in freedom.amounts.get(device, {}).items()
            if (number := numbers[draw]) is not None and model.drawn[number]
        ]
        own = literals.get(index[device], ())
        if not own and not drawn:
            continue
        stays = model.model.boolean()
        for literal in dict.fromkeys(own):
            model.model.excludes(literal, stays)
        for number, amount in drawn:
            model.hold([*model.drawn[number], (stays, amount)], table.limits[number])
        terms.append((stays, -size))
        total += size
    return terms, total


_ENCODINGS: Final[dict[type, Callable[..., Terms]]] = {
    FewestNodes: _node,
    HighestRanked: _ranks,
    Cheapest: _prices,
    LeastFragmented: _lost,
    Stable: _kept,
}
