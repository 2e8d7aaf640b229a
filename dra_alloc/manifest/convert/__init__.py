"""
Older versions of resource.k8s.io made v1-shaped.
"""
