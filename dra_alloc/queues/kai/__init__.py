"""
KAI-Scheduler: how queues share a cluster, and what one may take back from another.
"""
