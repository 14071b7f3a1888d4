"""Review: people look at edited pictures one by one, and everything they say is kept.

`items` are what a build left to be reviewed, `database` is where decisions go, `ledger` writes and
reads them, `assignments` says who sees what next, `people` lets them in, `statistics` measures
agreement, speed and drift, `desk` puts these together, `routes` is what browsers ask for.
"""
