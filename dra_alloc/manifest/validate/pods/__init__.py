"""
Admission rules of pods and of what makes them.
"""
