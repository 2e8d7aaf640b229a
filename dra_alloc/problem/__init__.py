"""
Everything looked up, nothing decided.

Wire objects become slotted rows with small integer ids; pools, requests and
usage are immutable. The floors above decide; this one never does.
"""
