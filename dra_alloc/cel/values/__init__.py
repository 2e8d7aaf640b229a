"""
Run-time values of CEL, and what operators make of them.
"""
