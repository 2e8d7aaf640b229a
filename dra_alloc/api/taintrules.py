"""DeviceTaintRule: taints an admin puts on devices from outside."""

from dra_alloc.api._base import KubeModel, List, PtrText, Struct, Text
from dra_alloc.api.devices import DeviceTaint
from dra_alloc.api.meta import Condition, ObjectMeta


class DeviceTaintSelector(KubeModel):
    """
    The devices a rule taints: every given member must be equal.

    Empty, it matches every device: a misspelt member must not pass unseen.
    """

    driver: PtrText = None
    pool: PtrText = None
    device: PtrText = None


class DeviceTaintRuleSpec(KubeModel):
    """Without a selector the rule taints nothing."""

    device_selector: DeviceTaintSelector | None = None
    taint: Struct[DeviceTaint] = DeviceTaint.model_construct()


class DeviceTaintRuleStatus(KubeModel):
    """How far eviction has come."""

    conditions: List[Condition] = ()


class DeviceTaintRule(KubeModel):
    """A taint for all devices that a selector matches."""

    api_version: Text = "resource.k8s.io/v1"
    kind: Text = "DeviceTaintRule"
    metadata: Struct[ObjectMeta] = ObjectMeta.model_construct()
    spec: Struct[DeviceTaintRuleSpec] = DeviceTaintRuleSpec.model_construct()
    status: Struct[DeviceTaintRuleStatus] = DeviceTaintRuleStatus.model_construct()
