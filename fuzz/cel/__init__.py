"""
Random selectors, and upstream's CEL beside ours.
"""
