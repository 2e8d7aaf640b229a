"""
What is wrong or risky in manifests: a table of codes, each with what it reads, says and mends; no engine of its own.
"""
