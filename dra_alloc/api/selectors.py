"""Pieces that claims, classes and results share: selectors, tolerations, opaque configuration."""

from typing import ClassVar

from dra_alloc.api._base import KubeModel, OptText, PtrInt, RawJson, Text


class CELDeviceSelector(KubeModel):
    """A CEL expression over ``device``; at most 10240 bytes."""

    expression: Text = ""


class DeviceSelector(KubeModel):
    """One condition on a device; `cel` is the only kind there is."""

    cel: CELDeviceSelector | None = None


class DeviceToleration(KubeModel):
    """
    Which taints a request puts up with.

    An absent key matches every taint, an absent effect every effect, an absent
    operator is Equal. `toleration_seconds` delays eviction only.
    """

    key: OptText = None
    operator: OptText = None
    value: OptText = None
    effect: OptText = None
    toleration_seconds: PtrInt = None


class OpaqueDeviceConfiguration(KubeModel):
    """A JSON object only the named driver understands; at most 10240 bytes."""

    wire_null: ClassVar[frozenset[str]] = frozenset({"parameters"})

    driver: Text = ""
    parameters: RawJson = None
