"""
Clusters made of others: edits, events of a watch, copies, content hashes.
"""
