"""Explore: runs over one another, case by case, in the browser.

boards.py      runs → boards: one per set of cases on which runs can be compared
board.py       what every board knows; pairs, quads, singles and questions are its kinds
points.py      cells of p⁺ and p⁻ at any t and τ
sums.py        what cases add to the metrics, so that any selection has its rates
views.py       what is looked at, as an address
selection.py   a view applied to a board: filter, sort, page, facets
contrast.py    A beside B, with paired tests; confusion.py: what is taken for what
cases.py       everything about one case; notes.py; exports.py
routes.py      all of it behind addresses
"""
