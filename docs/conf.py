"""
Sphinx configuration. Warnings are errors: see docs/build.py.
"""

from __future__ import annotations

from dra_alloc import __version__

project = "dra-alloc"
author = "the dra-alloc authors"
project_copyright = "the dra-alloc authors"
version = release = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.doctest",
]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"dra-alloc {version}"
html_copy_source = False

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
# pydantic's own machinery says nothing about the wire format.
autodoc_default_options = {"members": True, "exclude-members": "model_config, model_fields, model_computed_fields"}
