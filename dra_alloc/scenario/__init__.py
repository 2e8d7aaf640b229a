"""
Whole pods and whole clusters: what-if questions on a snapshot.
"""
