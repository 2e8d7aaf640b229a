"""
Engines: from a cluster state, a node and claims to an outcome.
"""
