"""
Kueue: what a pod is charged, and what a ClusterQueue has left.
"""
