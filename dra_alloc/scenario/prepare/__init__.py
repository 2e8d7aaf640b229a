"""
From documents to prepared subjects: what every command asks about.
"""
