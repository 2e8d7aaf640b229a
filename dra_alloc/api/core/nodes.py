"""Nodes and the selectors that pick them; unknown Node fields are ignored."""

from typing import ClassVar, Final

from pydantic import ConfigDict

from dra_alloc.api._base import FrozenMap, Int, KubeModel, List, OptText, PtrBool, Struct, Text
from dra_alloc.api.amounts.quantity import Quantity
from dra_alloc.api.meta import ObjectMeta, Timestamp

#: The label with a node's own name.
HOSTNAME: Final = "kubernetes.io/hostname"
#: Effects of taints, of nodes and of devices, that keep off whoever does not tolerate them.
BARRING: Final = frozenset({"NoSchedule", "NoExecute"})


class PartialModel(KubeModel):
    """A model of those fields of a core object that DRA reads; the others are ignored."""

    model_config = ConfigDict(extra="ignore")


class NodeSelectorRequirement(KubeModel):
    """`key operator values`: In, NotIn, Exists, DoesNotExist, Gt or Lt over labels (or fields)."""

    key: Text = ""
    operator: Text = ""
    values: List[Text] = ()


class NodeSelectorTerm(KubeModel):
    """Requirements that must all hold; a term without any selects nothing."""

    match_expressions: List[NodeSelectorRequirement] = ()
    match_fields: List[NodeSelectorRequirement] = ()


class NodeSelector(KubeModel):
    """Terms of which one must hold."""

    wire_null: ClassVar[frozenset[str]] = frozenset({"node_selector_terms"})

    node_selector_terms: List[NodeSelectorTerm] = ()


class Taint(PartialModel):
    """A node taint."""

    key: Text = ""
    value: OptText = None
    effect: Text = ""
    time_added: Timestamp = None


class NodeSpec(PartialModel):
    """Whether the node takes new pods."""

    unschedulable: PtrBool = None
    taints: List[Taint] = ()


class ContainerImage(PartialModel):
    """An image that the node has."""

    names: List[Text] = ()
    size_bytes: Int = 0


class NodeCondition(PartialModel):
    """One aspect of a node's state."""

    type: Text = ""
    status: Text = ""


class NodeStatus(PartialModel):
    """What the node offers: `capacity` in all, `allocatable` to pods; `declared_features` is what its kubelet can."""

    capacity: FrozenMap[str, Quantity] = FrozenMap()
    allocatable: FrozenMap[str, Quantity] = FrozenMap()
    images: List[ContainerImage] = ()
    declared_features: List[Text] = ()
    conditions: List[NodeCondition] = ()


class Node(PartialModel):
    """A node: its name and labels decide which slices it reaches."""

    api_version: Text = "v1"
    kind: Text = "Node"
    metadata: Struct[ObjectMeta] = ObjectMeta.model_construct()
    spec: Struct[NodeSpec] = NodeSpec.model_construct()
    status: Struct[NodeStatus] = NodeStatus.model_construct()


class Namespace(PartialModel):
    """A namespace: the label ``resource.kubernetes.io/admin-access`` allows admin access in it."""

    api_version: Text = "v1"
    kind: Text = "Namespace"
    metadata: Struct[ObjectMeta] = ObjectMeta.model_construct()
