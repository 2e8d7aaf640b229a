"""
Consumable capacity: what requests take of a shared device.
"""
