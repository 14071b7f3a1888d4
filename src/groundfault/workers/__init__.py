"""Models that need an environment of their own: one script each, all run by `runtime.py`.

Everything in this folder runs on Python 3.8 without groundfault being installed there.
"""
