"""The questions of an exam, by code from the fields of a proposal.

Fields come from rules or from a model that looked at both pictures; what they say is checked here
before anything is asked (`validators`), and a candidate whose fields fail is dropped by the
validator's id. The words are those of `groundfault.exams`, which rendered scenes share.
"""
