"""One go at a run, in a process that can be killed: ask_once.py EXAM URL OUT STORE CONCURRENCY"""

from __future__ import annotations

import sys

from groundfault.asking import Patience, run_exam
from groundfault.conversations import AnswererOptions
from groundfault.models.openai_compatible import openai

if __name__ == "__main__":
    exam, url, out, store, concurrency = sys.argv[1:]
    options = AnswererOptions(base_url=url)
    run = run_exam(
        exam,
        lambda: openai("tiny", options),
        out,
        name="openai:tiny",
        options=options,
        modes=("std", "cot"),
        concurrency=int(concurrency),
        responses=store,
        patience=Patience(timeout_s=20, first_wait_s=0.05),
    )
    print(run.state)
