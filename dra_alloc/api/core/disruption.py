"""Budgets of disruption: how many pods may be evicted at a time."""

from dra_alloc.api._base import OptText, Struct, Text
from dra_alloc.api.core.nodes import PartialModel
from dra_alloc.api.meta import LabelSelector, ObjectMeta


class PodDisruptionBudgetSpec(PartialModel):
    """How many of the pods that it selects have to be healthy, or may not be: a number, or a share such as 50%."""

    selector: LabelSelector | None = None
    min_available: int | str | None = None
    max_unavailable: int | str | None = None
    unhealthy_pod_eviction_policy: OptText = None


class PodDisruptionBudget(PartialModel):
    """A PodDisruptionBudget; its status is worked out anew."""

    api_version: Text = "policy/v1"
    kind: Text = "PodDisruptionBudget"
    metadata: Struct[ObjectMeta] = ObjectMeta.model_construct()
    spec: Struct[PodDisruptionBudgetSpec] = PodDisruptionBudgetSpec.model_construct()
