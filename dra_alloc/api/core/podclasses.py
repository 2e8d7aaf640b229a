"""What pods name to be made with: runtime classes, priority classes and service accounts."""

from dra_alloc.api._base import FrozenMap, Int, List, OptText, PtrBool, Struct, Text
from dra_alloc.api.amounts.quantity import Quantity
from dra_alloc.api.core.nodes import PartialModel
from dra_alloc.api.core.pods import Toleration
from dra_alloc.api.meta import Labels, ObjectMeta


class RuntimeClassOverhead(PartialModel):
    """What a pod of the class uses on top of its containers."""

    pod_fixed: FrozenMap[str, Quantity] = FrozenMap()


class RuntimeClassScheduling(PartialModel):
    """Where pods of the class can run."""

    node_selector: Labels = FrozenMap()
    tolerations: List[Toleration] = ()


class RuntimeClass(PartialModel):
    """How containers of a pod are run, and what that costs."""

    api_version: Text = "node.k8s.io/v1"
    kind: Text = "RuntimeClass"
    metadata: Struct[ObjectMeta] = ObjectMeta.model_construct()
    overhead: RuntimeClassOverhead | None = None
    scheduling: RuntimeClassScheduling | None = None


class PriorityClass(PartialModel):
    """The priority of pods that name it, or of all that name none."""

    api_version: Text = "scheduling.k8s.io/v1"
    kind: Text = "PriorityClass"
    metadata: Struct[ObjectMeta] = ObjectMeta.model_construct()
    value: Int = 0
    global_default: PtrBool = None
    preemption_policy: OptText = None


class ServiceAccount(PartialModel):
    """Whose word a pod has with the API server."""

    api_version: Text = "v1"
    kind: Text = "ServiceAccount"
    metadata: Struct[ObjectMeta] = ObjectMeta.model_construct()
