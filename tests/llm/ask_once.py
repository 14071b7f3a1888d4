"""One go at a run, in a process that can be killed.

python -m tests.llm.ask_once EXAM URL OUT STORE CONCURRENCY
"""

from __future__ import annotations

import signal
import sys

from tests.llm.runs import run_exam

from groundfault.llm.openai_chat import openai
from groundfault.llm.retry import RetryPolicy
from groundfault.llm.server import ChatOptions

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # it is ignored under nohup
    exam, url, out, store, concurrency = sys.argv[1:]
    options = ChatOptions(base_url=url)
    run = run_exam(
        exam,
        lambda: openai("tiny", options),
        out,
        name="openai:tiny",
        options=options,
        modes=("std", "cot"),
        concurrency=int(concurrency),
        responses=store,
        patience=RetryPolicy(first_wait_s=0.05),
    )
    print(run.state)
