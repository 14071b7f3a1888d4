"""How an exam is asked: many questions at once, each answered or failed with its reason; nothing
paid for twice, nothing lost to a crash.

`run_exam` asks what has no answer yet and keeps every answer, `run_questions` does so for any
questionnaire; `read_answers` reads what a run has kept. `Conversing` is for judges: conversations
in words, with the same care.
"""

from groundfault.asking.budget import (
    Allowance,
    Budget,
    Estimate,
    Price,
    Purse,
    parse_budget,
    parse_price,
)
from groundfault.asking.conversing import Conversing
from groundfault.asking.patience import Patience
from groundfault.asking.prompts import exam_questions, pope_questions
from groundfault.asking.recording import read_answers, replace_answers
from groundfault.asking.responses import Responses, default_place
from groundfault.asking.running import ExamRun, Progress, run_exam, run_questions
from groundfault.asking.served import ask_served

__all__ = [
    "Allowance",
    "Budget",
    "Conversing",
    "Estimate",
    "ExamRun",
    "Patience",
    "Price",
    "Progress",
    "Purse",
    "Responses",
    "ask_served",
    "default_place",
    "exam_questions",
    "parse_budget",
    "parse_price",
    "pope_questions",
    "read_answers",
    "replace_answers",
    "run_exam",
    "run_questions",
]
