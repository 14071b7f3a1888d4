"""The documentation's settings: `make docs` builds it offline, every warning is an error."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "site"))

from groundfault import __version__

project = "groundfault"
author = "the groundfault authors"
version = release = __version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "reference_pages"]
exclude_patterns = ["site", "_built"]
source_suffix = {".md": "markdown"}

highlight_language = "text"
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
suppress_warnings = ["misc.highlighting_failure"]  # … stands for what the reader fills in

autodoc_typehints = "description"
autodoc_preserve_defaults = True
default_role = "literal"
autodoc_member_order = "bysource"
add_module_names = False
toc_object_entries = False

html_theme = "furo"
html_title = f"groundfault {__version__}"
html_static_path = ["site/static"]
html_css_files = ["groundfault.css"]
html_show_copyright = False
html_copy_source = False
html_theme_options = {
    "navigation_with_keys": True,
    "light_css_variables": {
        "color-brand-primary": "#0b5d7a",
        "color-brand-content": "#0b5d7a",
        "color-brand-visited": "#5b4a8a",
    },
    "dark_css_variables": {
        "color-brand-primary": "#6fc3df",
        "color-brand-content": "#6fc3df",
        "color-brand-visited": "#b5a6e6",
    },
}
