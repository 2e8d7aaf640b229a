"""
Texts of documents changed at the places that are meant, and nowhere else.
"""
