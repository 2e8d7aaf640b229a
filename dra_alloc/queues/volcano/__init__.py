"""
Volcano: what a PodGroup needs before its pods are tried.
"""
