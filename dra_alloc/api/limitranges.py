"""
LimitRanges: amounts that new pods of a namespace have by default, and bounds of them.
"""

from __future__ import annotations

from dra_alloc.api._base import FrozenMap, List, Struct, Text
from dra_alloc.api.amounts.quantity import Quantity
from dra_alloc.api.meta import ObjectMeta
from dra_alloc.api.nodes import PartialModel

__all__ = ["LimitRange", "LimitRangeItem", "LimitRangeSpec"]


class LimitRangeItem(PartialModel):
    """Bounds and defaults of what one Container, or all of a Pod, asks for."""

    type: Text = ""
    max: FrozenMap[str, Quantity] = FrozenMap()
    min: FrozenMap[str, Quantity] = FrozenMap()
    default: FrozenMap[str, Quantity] = FrozenMap()
    default_request: FrozenMap[str, Quantity] = FrozenMap()
    max_limit_request_ratio: FrozenMap[str, Quantity] = FrozenMap()


class LimitRangeSpec(PartialModel):
    """All items, each of which holds."""

    limits: List[LimitRangeItem] = ()


class LimitRange(PartialModel):
    """What the API server makes of new pods in a namespace."""

    api_version: Text = "v1"
    kind: Text = "LimitRange"
    metadata: Struct[ObjectMeta] = ObjectMeta.model_construct()
    spec: Struct[LimitRangeSpec] = LimitRangeSpec.model_construct()
