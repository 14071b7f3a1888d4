"""What is measured of every edit before people look at it: one file per check.

A check says what it measures, of which kinds of edit, and when it drops one. `catalogue` lists
them; `checking` is the stage that runs them; `card` says how often each is wrong.
"""
