"""
Workloads as data: which objects make pods, how many, under which names, and what their controllers add.
"""
