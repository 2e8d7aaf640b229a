"""Pods as far as DRA reads them, whose other fields are ignored; and pod groups, with all fields of their spec."""

from typing import Final

from pydantic import Field

from dra_alloc.api._base import (
    FrozenMap,
    Int,
    KubeModel,
    List,
    OptText,
    PtrBool,
    PtrInt,
    PtrText,
    RawJson,
    Struct,
    Text,
)
from dra_alloc.api.amounts.quantity import ZERO, Quantity
from dra_alloc.api.core.nodes import NodeSelector, NodeSelectorTerm, PartialModel
from dra_alloc.api.meta import Labels, LabelSelector, ObjectMeta

#: What begins the names of pages in large sizes.
HUGE: Final = "hugepages-"


class ResourceClaimUse(PartialModel):
    """A container's use of a pod's claim: all of it, or one request."""

    name: Text = ""
    request: OptText = None


class ResourceRequirements(PartialModel):
    """What a container asks for; extended resources may be backed by a DeviceClass."""

    limits: FrozenMap[str, Quantity] = FrozenMap()
    requests: FrozenMap[str, Quantity] = FrozenMap()
    claims: List[ResourceClaimUse] = ()


class ContainerPort(PartialModel):
    """A port of a container; with `host_port` one of the node as well."""

    name: OptText = None
    container_port: Int = 0
    host_port: Int = 0
    host_ip: OptText = Field(default=None, alias="hostIP")
    protocol: OptText = None


class Container(PartialModel):
    """A container; an init container with `restart_policy` Always keeps running."""

    name: Text = ""
    image: OptText = None
    ports: List[ContainerPort] = ()
    restart_policy: PtrText = None
    resources: Struct[ResourceRequirements] = ResourceRequirements.model_construct()


class PodResourceClaim(KubeModel):
    """A claim of the pod: an existing one, or one made from a template. It has no other members, in any release."""

    name: Text = ""
    resource_claim_name: PtrText = None
    resource_claim_template_name: PtrText = None


class Toleration(PartialModel):
    """Which node taints the pod puts up with."""

    key: OptText = None
    operator: OptText = None
    value: OptText = None
    effect: OptText = None
    toleration_seconds: PtrInt = None


class PreferredSchedulingTerm(PartialModel):
    """Nodes the pod would rather run on, and how much."""

    weight: Int = 0
    preference: Struct[NodeSelectorTerm] = NodeSelectorTerm.model_construct()


class NodeAffinity(PartialModel):
    """Nodes the pod must run on, and nodes it would rather run on."""

    required_during_scheduling_ignored_during_execution: NodeSelector | None = None
    preferred_during_scheduling_ignored_during_execution: List[PreferredSchedulingTerm] = ()


class PodAffinityTerm(PartialModel):
    """Pods of some labels and namespaces, and the node label that says what is near them."""

    label_selector: LabelSelector | None = None
    namespaces: List[Text] = ()
    topology_key: Text = ""
    namespace_selector: LabelSelector | None = None
    match_label_keys: List[Text] = ()
    mismatch_label_keys: List[Text] = ()


class WeightedPodAffinityTerm(PartialModel):
    """Pods to be near or not near to, and how much it matters."""

    weight: Int = 0
    pod_affinity_term: Struct[PodAffinityTerm] = PodAffinityTerm.model_construct()


class PodAffinity(PartialModel):
    """Pods the pod must be near to, and those it would rather be near to; the same of pods to keep away from."""

    required_during_scheduling_ignored_during_execution: List[PodAffinityTerm] = ()
    preferred_during_scheduling_ignored_during_execution: List[WeightedPodAffinityTerm] = ()


class Affinity(PartialModel):
    """Where the pod must run, and where it would rather."""

    node_affinity: NodeAffinity | None = None
    pod_affinity: PodAffinity | None = None
    pod_anti_affinity: PodAffinity | None = None


class TopologySpreadConstraint(PartialModel):
    """How even the pods of some labels are to be spread over the values of a node label."""

    max_skew: Int = 0
    topology_key: Text = ""
    when_unsatisfiable: Text = ""
    label_selector: LabelSelector | None = None
    min_domains: PtrInt = None
    node_affinity_policy: OptText = None
    node_taints_policy: OptText = None
    match_label_keys: List[Text] = ()


class ImageVolume(PartialModel):
    """An image as a volume."""

    reference: OptText = None


class PersistentVolumeClaimVolume(PartialModel):
    """A volume by the name of its claim."""

    claim_name: Text = ""


class Volume(PartialModel):
    """A volume of the pod: what of it matters to scheduling."""

    name: Text = ""
    image: ImageVolume | None = None
    persistent_volume_claim: PersistentVolumeClaimVolume | None = None
    ephemeral: RawJson = None


class PodSchedulingGate(PartialModel):
    """A reason not to schedule the pod yet."""

    name: Text = ""


class PodSchedulingGroup(KubeModel):
    """The pod group the pod belongs to (1.36). It has no other members, in any release."""

    pod_group_name: PtrText = None


class PodSpec(PartialModel):
    """Claims, containers, and the nodes that may run them."""

    node_name: OptText = None
    node_selector: Labels = FrozenMap()
    affinity: Affinity | None = None
    tolerations: List[Toleration] = ()
    scheduler_name: OptText = None
    restart_policy: OptText = None
    scheduling_gates: List[PodSchedulingGate] = ()
    active_deadline_seconds: PtrInt = None
    priority: PtrInt = None
    priority_class_name: OptText = None
    runtime_class_name: OptText = None
    service_account_name: OptText = None
    service_account: OptText = None
    preemption_policy: OptText = None
    host_network: PtrBool = None
    topology_spread_constraints: List[TopologySpreadConstraint] = ()
    volumes: List[Volume] = ()
    init_containers: List[Container] = ()
    containers: List[Container] = ()
    ephemeral_containers: List[Container] = ()
    overhead: FrozenMap[str, Quantity] = FrozenMap()
    resources: ResourceRequirements | None = None
    resource_claims: List[PodResourceClaim] = ()
    scheduling_group: PodSchedulingGroup | None = None


class PodResourceClaimStatus(PartialModel):
    """The claim made for an entry; none if none was needed."""

    name: Text = ""
    resource_claim_name: PtrText = None


class ContainerExtendedResourceRequest(PartialModel):
    """Which request of the generated claim backs a container's extended resource."""

    container_name: Text = ""
    resource_name: Text = ""
    request_name: Text = ""


class PodExtendedResourceClaimStatus(PartialModel):
    """The claim the scheduler made for the pod's extended resources."""

    request_mappings: List[ContainerExtendedResourceRequest] = ()
    resource_claim_name: Text = ""


class NodeAllocatableAmount(PartialModel):
    """An amount of a node resource."""

    name: Text = ""
    quantity: Quantity = ZERO


class NodeAllocatableOverheadAmount(PartialModel):
    """What the node needs on top."""

    name: Text = ""
    per_pod: Quantity | None = None
    per_container: Quantity | None = None


class NodeAllocatableClaimStatus(PartialModel):
    """Node resources a claim took: `resources` in 1.36, `mapping` and `overhead` since 1.37."""

    resource_claim_name: Text = ""
    containers: List[Text] = ()
    resources: FrozenMap[str, Quantity] = FrozenMap()
    mapping: List[NodeAllocatableAmount] = ()
    overhead: List[NodeAllocatableOverheadAmount] = ()


class ContainerStatus(PartialModel):
    """What a container was given; since it can be resized it may differ from what it asks for."""

    name: Text = ""
    allocated_resources: FrozenMap[str, Quantity] = FrozenMap()
    resources: ResourceRequirements | None = None


class PodCondition(PartialModel):
    """One aspect of a pod's state."""

    type: Text = ""
    status: Text = ""
    reason: Text = ""


class PodStatus(PartialModel):
    """What was made and decided for the pod."""

    phase: OptText = None
    qos_class: OptText = None
    conditions: List[PodCondition] = ()
    nominated_node_name: OptText = None
    container_statuses: List[ContainerStatus] = ()
    init_container_statuses: List[ContainerStatus] = ()
    allocated_resources: FrozenMap[str, Quantity] = FrozenMap()
    resources: ResourceRequirements | None = None
    resource_claim_statuses: List[PodResourceClaimStatus] = ()
    extended_resource_claim_status: PodExtendedResourceClaimStatus | None = None
    node_allocatable_resource_claim_statuses: List[NodeAllocatableClaimStatus] = ()


class Pod(PartialModel):
    """A pod: its claims are allocated together, on one node."""

    api_version: Text = "v1"
    kind: Text = "Pod"
    metadata: Struct[ObjectMeta] = ObjectMeta.model_construct()
    spec: Struct[PodSpec] = PodSpec.model_construct()
    status: Struct[PodStatus] = PodStatus.model_construct()


class GangSchedulingPolicy(KubeModel):
    """How many pods of a group have to be schedulable at once."""

    min_count: Int = 0


class PodGroupSchedulingPolicy(KubeModel):
    """All together, `gang`, or one by one, `basic`."""

    basic: RawJson = None
    gang: GangSchedulingPolicy | None = None


class PodGroupTopology(KubeModel):
    """The label of nodes in which all pods of a group agree."""

    key: Text = ""


class PodGroupConstraints(KubeModel):
    """Where the pods of a group go together; at most one label is given."""

    topology: List[PodGroupTopology] = ()


class PodGroupSpec(KubeModel):
    """
    How many pods of the group run at least, where they go together, and claims that all of them share.

    What is kept as it was written is not looked at. `pod_group_template_ref` is v1alpha2's; the others have
    `workload_ref` and `parent_composite_pod_group_name` instead.
    """

    parent_composite_pod_group_name: RawJson = None
    workload_ref: RawJson = None
    pod_group_template_ref: RawJson = None
    scheduling_policy: Struct[PodGroupSchedulingPolicy] = PodGroupSchedulingPolicy.model_construct()
    disruption_mode: RawJson = None
    preemption_policy: RawJson = None
    priority: PtrInt = None
    priority_class_name: OptText = None
    resource_claims: List[PodResourceClaim] = ()
    scheduling_constraints: Struct[PodGroupConstraints] = PodGroupConstraints.model_construct()


class PodGroupStatus(PartialModel):
    """The claims made for the group."""

    resource_claim_statuses: List[PodResourceClaimStatus] = ()


class PodGroup(KubeModel):
    """Pods scheduled together (scheduling.k8s.io, 1.36)."""

    api_version: Text = "scheduling.k8s.io/v1alpha2"
    kind: Text = "PodGroup"
    metadata: Struct[ObjectMeta] = ObjectMeta.model_construct()
    spec: Struct[PodGroupSpec] = PodGroupSpec.model_construct()
    status: Struct[PodGroupStatus] = PodGroupStatus.model_construct()
