"""
Quantities: exact, as Kubernetes writes them, and as upstream's integers hold them.
"""
