"""Services: which pods they select, whose spreading the scheduler prefers."""

from dra_alloc.api._base import FrozenMap, Struct, Text
from dra_alloc.api.core.nodes import PartialModel
from dra_alloc.api.meta import ObjectMeta


class ServiceSpec(PartialModel):
    """The labels of the pods that serve; without any the Service selects none."""

    selector: FrozenMap[str, Text] = FrozenMap()


class Service(PartialModel):
    """A Service, as far as it says which pods belong together."""

    api_version: Text = "v1"
    kind: Text = "Service"
    metadata: Struct[ObjectMeta] = ObjectMeta.model_construct()
    spec: Struct[ServiceSpec] = ServiceSpec.model_construct()
