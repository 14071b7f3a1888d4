"""Doctests of modules whose library is not installed are left out."""

from importlib.util import find_spec

collect_ignore = [] if find_spec("inspect_ai") else ["groundfault/exports/inspect_ai.py"]
