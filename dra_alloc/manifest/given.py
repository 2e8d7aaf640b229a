"""
Objects of a program: our models, plain dictionaries, and those of the official client, read as documents are.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Final

from pydantic.alias_generators import to_camel

from dra_alloc.api import KubeModel
from dra_alloc.errors import InputError, Problem
from dra_alloc.manifest.documents import Documents, Workload
from dra_alloc.manifest.load import load, load_readable
from dra_alloc.manifest.manner import Manner

#: Members whose keys are the user's own, and stay as they are.
_MAPS: Final = frozenset(
    {
        *("labels", "annotations", "match_labels", "node_selector", "limits", "requests", "overhead", "capacity"),
        *("allocatable", "attributes", "counters", "data", "binary_data", "string_data", "hard", "used"),
    }
)


def documents_of(objects: Documents | Iterable[Any]) -> Documents:
    """
    Return the objects as `load` returns those of files.

    Each is one of `dra_alloc.api`, a mapping as it is written in JSON, a
    mapping in the official client's snake_case, or one of its models.

    Raises: ManifestError, InputError.
    """
    if isinstance(objects, Documents):
        return objects
    lines = b"\n".join(map(json_text, objects))
    return load(["-"], stdin=io.BytesIO(lines), validate="ignore") if lines else Documents()


def read_given(item: Any, manner: Manner) -> tuple[Documents, tuple[Problem, ...]]:
    """Return one object, and every problem with reading it. Raises: InputError."""
    return load_readable(["-"], stdin=io.BytesIO(json_text(item)), manner=manner)


def json_text(item: Any) -> bytes:
    """Return one object as JSON text. Raises: InputError, as `plain_object` does."""
    return json.dumps(plain_object(item), default=_scalar).encode()


def plain_object(item: Any) -> Mapping[str, Any]:
    """Return one object as it is written in JSON. Raises: InputError, for anything else."""
    if isinstance(item, KubeModel):
        return item.to_wire()
    if isinstance(item, Workload):
        return item.body
    if hasattr(item, "attribute_map") and hasattr(item, "openapi_types"):
        found: Mapping[str, Any] = _of_client(item)
        return found
    if hasattr(item, "to_dict"):
        item = item.to_dict()
    if not isinstance(item, Mapping):
        raise InputError(f"expected an object of the API, got {type(item).__name__}")
    return _camel(item) if "api_version" in item and "apiVersion" not in item else item


def _of_client(value: Any) -> Any:
    """Return a model of the official client by the names that it has on the wire."""
    if isinstance(value, list | tuple):
        return [_of_client(each) for each in value]
    if isinstance(value, Mapping):
        return {key: _of_client(each) for key, each in value.items()}
    names = getattr(value, "attribute_map", None)
    if names is None:
        return value
    members = {wire: getattr(value, name, None) for name, wire in names.items()}
    return {wire: _of_client(each) for wire, each in members.items() if each is not None}


def _camel(value: Any) -> Any:
    """Return what `to_dict` of the official client made, with the names of the wire."""
    if isinstance(value, list | tuple):
        return [_camel(each) for each in value]
    if not isinstance(value, Mapping):
        return value
    return {
        _ODD.get(key, to_camel(key)): each
        if key in _MAPS and isinstance(each, Mapping) and _is_flat(each)
        else _camel(each)
        for key, each in value.items()
        if each is not None
    }


def _is_flat(value: Mapping[str, Any]) -> bool:
    return not any(isinstance(each, Mapping | list | tuple) for each in value.values())


#: Names that camel case gets wrong.
_ODD: Final = {"host_ip": "hostIP", "pod_ip": "podIP", "cluster_ip": "clusterIP"}


def _scalar(value: Any) -> str:
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    return str(value)
