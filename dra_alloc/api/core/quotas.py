"""What bounds a namespace: quotas on what its objects ask for together, and ranges for each of its pods."""

from dra_alloc.api._base import FrozenMap, List, Struct, Text
from dra_alloc.api.amounts.quantity import Quantity
from dra_alloc.api.core.nodes import PartialModel
from dra_alloc.api.meta import ObjectMeta


class ScopedResourceSelectorRequirement(PartialModel):
    """Which objects of a scope: those of any value, or of some."""

    scope_name: Text = ""
    operator: Text = ""
    values: List[Text] = ()


class ScopeSelector(PartialModel):
    """Scopes that must all hold."""

    match_expressions: List[ScopedResourceSelectorRequirement] = ()


class ResourceQuotaSpec(PartialModel):
    """The limit of each resource, and to which objects it applies."""

    hard: FrozenMap[str, Quantity] = FrozenMap()
    scopes: List[Text] = ()
    scope_selector: ScopeSelector | None = None


class ResourceQuotaStatus(PartialModel):
    """The limits that are enforced, and what is used of them."""

    hard: FrozenMap[str, Quantity] = FrozenMap()
    used: FrozenMap[str, Quantity] = FrozenMap()


class ResourceQuota(PartialModel):
    """What the objects of a namespace may ask for together."""

    api_version: Text = "v1"
    kind: Text = "ResourceQuota"
    metadata: Struct[ObjectMeta] = ObjectMeta.model_construct()
    spec: Struct[ResourceQuotaSpec] = ResourceQuotaSpec.model_construct()
    status: Struct[ResourceQuotaStatus] = ResourceQuotaStatus.model_construct()


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
