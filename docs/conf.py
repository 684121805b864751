"""The site: `make docs` builds it into build/site, with warnings as errors."""

import sys
from pathlib import Path

from taylorank import __version__

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "_extensions")]

project = "taylorank"
author = "the taylorank contributors"
version = release = __version__

extensions = [
    "myst_parser",
    "sphinx_design",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "drawings",
    "outside_links",
    "command_help",
    "members",
    "readable",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build", "gallery/*.ipynb", "gallery/*.py", "gallery/*.md5", "gallery/sg_execution_times.rst"]
suppress_warnings = ["config.cache"]  # sphinx-gallery is configured with objects
nitpicky = False

myst_enable_extensions = ["colon_fence", "deflist", "fieldlist"]
myst_heading_anchors = 4
myst_links_external_new_tab = False

autosummary_generate = True
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # signatures of many keyword parameters stay readable; numpydoc's lists say what they mean
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
default_role = "code"  # `names` in docstrings are code, as everywhere else
add_module_names = False
python_display_short_literal_types = True

from gallery_charts import chart_scraper  # noqa: E402

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "within_subsection_order": "FileNameSortKey",
    "image_scrapers": (chart_scraper,),
    "reset_modules": (),  # those of matplotlib, which is not used
    "capture_repr": ("__repr__",),
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 1e9,
    "write_computation_times": False,
    "remove_config_comments": True,
    "default_thumb_file": str(HERE / "_static" / "thumb.svg"),
}

html_theme = "pydata_sphinx_theme"
html_title = f"taylorank {version}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_favicon = "_static/mark.svg"
html_show_sourcelink = False
html_copy_source = False
html_sidebars = {"index": []}
html_theme_options = {
    "logo": {"text": "taylorank", "image_light": "_static/mark.svg", "image_dark": "_static/mark.svg", "alt_text": ""},
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "header_links_before_dropdown": 6,
    "show_prev_next": True,
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "footer_start": ["licence"],
    "footer_end": [],
    "secondary_sidebar_items": {"**": ["page-toc"], "index": []},
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
templates_path = ["_templates"]
