"""Proposals: what is to be changed in a photograph, and what will be asked about it.

`rules` draws them from tables, `chat` asks a model, `scripted` reads them from a file; `linter`
checks any of them by the papers' rules before an editor is paid.
"""
