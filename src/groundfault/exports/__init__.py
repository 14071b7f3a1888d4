"""Our exams in other people's harnesses: their models and their loop, our prompts and our numbers.

`inspect_ai` is a task for Inspect AI, `lmms_eval` writes tasks for lmms-eval. Neither is imported
by the rest of the package.
"""
