"""
Constraints of a claim over several devices: one kind, one file.
"""
