"""
What a change does: steps that change a cluster, and what becomes of every workload before and after them.
"""
