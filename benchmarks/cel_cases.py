"""
A fleet of devices and the selectors that are timed on it.
"""

from __future__ import annotations

from typing import Any, Final

Json = dict[str, Any]
DRIVER: Final = "gpu.nvidia.com"
_MODELS: Final = (
    ("NVIDIA A100-SXM4-40GB", "Ampere", "40Gi", "8.0.0"),
    ("NVIDIA A100-SXM4-80GB", "Ampere", "80Gi", "8.0.0"),
    ("NVIDIA H100 80GB HBM3", "Hopper", "80Gi", "9.0.0"),
    ("NVIDIA H200", "Hopper", "141Gi", "9.0.0"),
    ("NVIDIA L40S", "Ada Lovelace", "48Gi", "8.9.0"),
    ("NVIDIA B200", "Blackwell", "180Gi", "10.0.0"),
)

#: Five typical selectors, and one whose every device is a row of its own.
SELECTORS: Final = {
    "driver": f'device.driver == "{DRIVER}"',
    "model and memory": f'device.attributes["{DRIVER}"].productName.startsWith("NVIDIA H100") && '
    f'device.capacity["{DRIVER}"].memory.compareTo(quantity("40Gi")) >= 0',
    "five guarded terms": f'device.driver == "{DRIVER}" && "{DRIVER}" in device.attributes && '
    f'has(device.attributes["{DRIVER}"].architecture) && '
    f'device.attributes["{DRIVER}"].architecture in ["Hopper", "Blackwell"] && '
    f'device.attributes["{DRIVER}"].cudaComputeCapability.compareTo(semver("9.0.0")) >= 0',
    "bind and pattern": f'cel.bind(a, device.attributes["{DRIVER}"], a.productName.matches("(H100|H200).*") && '
    'a.architecture in ["Hopper", "Blackwell"])',
    "optional": f'device.attributes["{DRIVER}"].?profile.orValue("") == "" && '
    f'device.capacity["{DRIVER}"].memory.isGreaterThan(quantity("40Gi"))',
    "unique uuid": f'device.attributes["{DRIVER}"].uuid == "GPU-00004242-0000-4000-8000-000000004242"',
}


def fleet(count: int) -> list[Json]:
    """Return devices of six models with twelve attributes each; only uuid, index and minor differ within a model."""
    return [_device(number) for number in range(count)]


def _device(number: int) -> Json:
    product, architecture, memory, capability = _MODELS[number % len(_MODELS)]
    return {
        "driver": DRIVER,
        "attributes": {
            "type": {"string": "gpu"},
            "uuid": {"string": f"GPU-{number:08x}-0000-4000-8000-{number:012d}"},
            "productName": {"string": product},
            "brand": {"string": "Nvidia"},
            "architecture": {"string": architecture},
            "cudaComputeCapability": {"version": capability},
            "cudaDriverVersion": {"version": "12.8.0"},
            "driverVersion": {"version": "570.124.6"},
            "index": {"int": number % 8},
            "minor": {"int": number % 8},
            "healthy": {"bool": True},
            "resource.kubernetes.io/pcieRoot": {"string": f"pci0000:{number % 4:02d}"},
        },
        "capacity": {"memory": memory},
    }
