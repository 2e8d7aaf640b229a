"""
Pods of several nodes in one question, where nodes share pools.
"""
