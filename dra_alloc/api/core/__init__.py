"""
What devices are given to and bounded by: pods, nodes, quotas, and the objects that pods name.
"""
