"""Volumes that outlive pods, the claims to them, and the classes that say how they are made and bound."""

from dra_alloc.api._base import FrozenMap, List, OptText, Struct, Text
from dra_alloc.api.amounts.quantity import Quantity
from dra_alloc.api.core.nodes import NodeSelector, PartialModel
from dra_alloc.api.meta import LabelSelector, ObjectMeta


class StorageClass(PartialModel):
    """Who makes volumes of the class, and when they are bound."""

    api_version: Text = "storage.k8s.io/v1"
    kind: Text = "StorageClass"
    metadata: Struct[ObjectMeta] = ObjectMeta.model_construct()
    provisioner: Text = ""
    volume_binding_mode: OptText = None


class VolumeNodeAffinity(PartialModel):
    """The nodes that can use a volume."""

    required: NodeSelector | None = None


class VolumeClaimReference(PartialModel):
    """The claim that a volume is for."""

    namespace: Text = ""
    name: Text = ""
    uid: OptText = None


class PersistentVolumeSpec(PartialModel):
    """What a volume has, whom it is for, and where it can be used."""

    capacity: FrozenMap[str, Quantity] = FrozenMap()
    access_modes: List[Text] = ()
    claim_ref: VolumeClaimReference | None = None
    storage_class_name: OptText = None
    volume_mode: OptText = None
    node_affinity: VolumeNodeAffinity | None = None


class PersistentVolume(PartialModel):
    """A volume of the cluster."""

    api_version: Text = "v1"
    kind: Text = "PersistentVolume"
    metadata: Struct[ObjectMeta] = ObjectMeta.model_construct()
    spec: Struct[PersistentVolumeSpec] = PersistentVolumeSpec.model_construct()


class VolumeResources(PartialModel):
    """How much a claim asks for."""

    requests: FrozenMap[str, Quantity] = FrozenMap()


class PersistentVolumeClaimSpec(PartialModel):
    """What a claim asks for, and the volume that it has."""

    access_modes: List[Text] = ()
    selector: LabelSelector | None = None
    resources: Struct[VolumeResources] = VolumeResources.model_construct()
    volume_name: OptText = None
    storage_class_name: OptText = None
    volume_mode: OptText = None


class PersistentVolumeClaimStatus(PartialModel):
    """Whether a claim is bound."""

    phase: OptText = None


class PersistentVolumeClaim(PartialModel):
    """A claim to a volume, which pods name."""

    api_version: Text = "v1"
    kind: Text = "PersistentVolumeClaim"
    metadata: Struct[ObjectMeta] = ObjectMeta.model_construct()
    spec: Struct[PersistentVolumeClaimSpec] = PersistentVolumeClaimSpec.model_construct()
    status: Struct[PersistentVolumeClaimStatus] = PersistentVolumeClaimStatus.model_construct()
