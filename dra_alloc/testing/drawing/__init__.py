"""
Random clusters, claims and selectors, drawn part by part.
"""
