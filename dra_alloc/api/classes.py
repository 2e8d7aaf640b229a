"""DeviceClass: what a cluster admin offers to claims by name."""

from dra_alloc.api._base import KubeModel, List, PtrText, Struct, Text
from dra_alloc.api.meta import ObjectMeta
from dra_alloc.api.selectors import DeviceSelector, OpaqueDeviceConfiguration


class DeviceClassConfiguration(KubeModel):
    """Parameters that every claim of the class gets."""

    opaque: OpaqueDeviceConfiguration | None = None


class DeviceClassSpec(KubeModel):
    """Conditions every device of the class meets, its configuration, its name as an extended resource."""

    selectors: List[DeviceSelector] = ()
    config: List[DeviceClassConfiguration] = ()
    extended_resource_name: PtrText = None


class DeviceClass(KubeModel):
    """A named kind of device."""

    api_version: Text = "resource.k8s.io/v1"
    kind: Text = "DeviceClass"
    metadata: Struct[ObjectMeta] = ObjectMeta.model_construct()
    spec: Struct[DeviceClassSpec] = DeviceClassSpec.model_construct()
