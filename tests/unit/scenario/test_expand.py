"""
Expansion in Python: objects in whatever form, and objects out.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any, ClassVar

import pytest
import yaml

import dra_alloc
from dra_alloc.api import Pod, ResourceClaim
from dra_alloc.errors import InputError, ManifestError
from dra_alloc.report.yaml_text import documents_text
from dra_alloc.scenario.expand import objects_of

CAMEL: dict[str, Any] = {
    "apiVersion": "apps/v1",
    "kind": "StatefulSet",
    "metadata": {"name": "db", "labels": {"app_name": "db"}},
    "spec": {
        "replicas": 2,
        "template": {
            "metadata": {"labels": {"app_name": "db"}},
            "spec": {
                "nodeSelector": {"disk_type": "ssd"},
                "containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1e3", "a_b": "1"}}}],
            },
        },
    },
}


class Model:
    """As the official client makes its models."""

    attribute_map: ClassVar[dict[str, str]] = {}
    openapi_types: ClassVar[dict[str, str]] = {}

    def __init__(self, **members: Any) -> None:
        self.__dict__.update(dict.fromkeys(self.attribute_map), **members)

    def to_dict(self) -> dict[str, Any]:
        """Its members by their Python names, nested ones too."""
        return {name: _dict(value) for name, value in self.__dict__.items()}


def _dict(value: Any) -> Any:
    if isinstance(value, list):
        return [_dict(each) for each in value]
    return value.to_dict() if isinstance(value, Model) else value


class Meta(Model):
    """V1ObjectMeta."""

    attribute_map: ClassVar[dict[str, str]] = {
        "name": "name",
        "labels": "labels",
        "creation_timestamp": "creationTimestamp",
    }


class Container(Model):
    """V1Container."""

    attribute_map: ClassVar[dict[str, str]] = {"name": "name", "image": "image", "resources": "resources"}


class Resources(Model):
    """V1ResourceRequirements."""

    attribute_map: ClassVar[dict[str, str]] = {"requests": "requests", "limits": "limits"}


class Spec(Model):
    """V1PodSpec."""

    attribute_map: ClassVar[dict[str, str]] = {"containers": "containers", "node_selector": "nodeSelector"}


class Template(Model):
    """V1PodTemplateSpec."""

    attribute_map: ClassVar[dict[str, str]] = {"metadata": "metadata", "spec": "spec"}


class SetSpec(Model):
    """V1StatefulSetSpec."""

    attribute_map: ClassVar[dict[str, str]] = {"replicas": "replicas", "template": "template"}


class Set(Model):
    """V1StatefulSet."""

    attribute_map: ClassVar[dict[str, str]] = {
        "api_version": "apiVersion",
        "kind": "kind",
        "metadata": "metadata",
        "spec": "spec",
    }


def client_set() -> Set:
    resources = Resources(requests={"cpu": "1e3", "a_b": "1"})
    spec = Spec(containers=[Container(name="c", image="i", resources=resources)], node_selector={"disk_type": "ssd"})
    template = Template(metadata=Meta(labels={"app_name": "db"}), spec=spec)
    meta = Meta(name="db", labels={"app_name": "db"}, creation_timestamp=datetime(2026, 1, 1, tzinfo=UTC))
    return Set(api_version="apps/v1", kind="StatefulSet", metadata=meta, spec=SetSpec(replicas=2, template=template))


@pytest.mark.parametrize("given", [CAMEL, client_set(), client_set().to_dict()], ids=["camel", "client", "to_dict"])
def test_objects_of_any_form_make_the_same_pods(given):
    found = dra_alloc.expand([given]).required()
    assert [each.name for each in found.pods] == ["default/db-0", "default/db-1"]
    for each in found.pods:
        assert each.pod.metadata.labels["app_name"] == "db"
        assert each.pod.spec.node_selector == {"disk_type": "ssd"}
        assert set(each.pod.spec.containers[0].resources.requests) == {"cpu", "a_b"}
        assert each.state is dra_alloc.PodState.NEW


def test_our_models_are_objects_too():
    claim = ResourceClaim.from_wire({"metadata": {"name": "c"}, "spec": {}})
    pod = Pod.from_wire(
        {"metadata": {"name": "p"}, "spec": {"resourceClaims": [{"name": "x", "resourceClaimName": "c"}]}}
    )
    found = dra_alloc.expand([pod, claim]).required()
    assert [each.state for each in found.pods] == [dra_alloc.PodState.WAITING]
    with pytest.raises(ManifestError, match="there is no ResourceClaim default/c"):
        dra_alloc.expand([pod]).required()


def test_what_is_no_object_is_refused():
    with pytest.raises(InputError, match="expected an object of the API, got int"):
        dra_alloc.expand([5])


def test_what_the_cluster_has_is_not_made_again():
    owner = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "db", "uid": "u", "controller": True}
    there = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "db-0", "namespace": "default", "ownerReferences": [owner]},
        "spec": {"nodeName": "n", "containers": [{"name": "c"}]},
    }
    found = dra_alloc.expand([CAMEL], cluster=[there])
    assert [(each.name, str(each.state)) for each in found.pods] == [("default/db-0", "bound"), ("default/db-1", "new")]
    assert dra_alloc.expand([]).pods == ()


def test_what_is_written_reads_as_the_same_and_makes_itself():
    found = dra_alloc.expand([CAMEL])
    text = documents_text(objects_of(found))
    written = list(yaml.safe_load_all(text))
    assert [each["metadata"]["name"] for each in written] == ["db-0", "db-1"]
    # All of the template is there, also what is not looked at, and no owner without a UID.
    assert written[0]["spec"] == CAMEL["spec"]["template"]["spec"]
    assert "ownerReferences" not in written[0]["metadata"]
    written[0]["spec"]["containers"][0]["command"] = ["x"]
    again = dra_alloc.expand(written)
    assert json.loads(json.dumps([each["spec"] for _, each in objects_of(again)])) == [each["spec"] for each in written]
    assert [(each.name, str(each.state)) for each in again.pods] == [
        ("default/db-0", "waiting"),
        ("default/db-1", "waiting"),
    ]
    assert '"1e3"' in text


@pytest.mark.parametrize("value", ["on", "1", "1e3", "0x1", "~", "", "a: b", "a\nb", "null", "- x", "é", "2026-01-01"])
def test_texts_stay_texts(value):
    assert list(yaml.safe_load_all(documents_text([("x\ny", {"a": value})]))) == [{"a": value}]
