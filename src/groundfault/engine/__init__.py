"""How a model meets many items: image by image, every phrase of an image asked together.

`predict` asks what is left to ask and keeps every answer; `score_run` scores what is stored.
"""

from groundfault.engine.running import Progress, folder_name, predict
from groundfault.engine.scoring import score_run
from groundfault.engine.work import Plan, first_cases

__all__ = ["Plan", "Progress", "first_cases", "folder_name", "predict", "score_run"]
