"""
What Kubernetes Dynamic Resource Allocation will do with your device claims.
"""

from dra_alloc._version import __version__

__all__ = ["__version__"]
