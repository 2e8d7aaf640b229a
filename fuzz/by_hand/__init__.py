"""
Changes of clusters made by hand, in plain JSON: what `what-if` says of a change is held against them.
"""
