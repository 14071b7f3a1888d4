"""From photographs to candidates, one file per paper.

Each has `mine(photographs, settings, on_drop)`, a generator that holds one photograph at a time.
What it turns away is told to `on_drop(id, Dropped)` with the id that the candidate would have had,
so that candidates and drops together are all that was looked at.
"""
