"""
Gangs: pods that are placed together, and where together is.
"""
