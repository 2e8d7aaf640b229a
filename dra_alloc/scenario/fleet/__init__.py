"""
Shapes of nodes: descriptions, a catalogue of real machines, and the objects that are made of them.
"""
