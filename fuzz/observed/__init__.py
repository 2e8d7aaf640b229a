"""
Upstream's scheduler watched pod after pod.
"""
