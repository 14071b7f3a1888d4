"""The verifying agent: a multimodal LLM that uses a segmenter as its tool (CAFE, §5.2, Appendix D).

Just another segmenter: `--model "agent:SEGMENTER+MODEL"`, or `Agent(segmenter, chat_model)`.
`episode` has the rules, `parsing.tool_calls` what a reply may ask for, `pictures` what the model is
shown, `traces` and `replays` what is kept of an episode.
"""

from groundfault.models.agent.agent import Agent
from groundfault.models.agent.episode import Episode, Scene
from groundfault.models.agent.published import read_published
from groundfault.models.agent.replays import differences, replay
from groundfault.models.agent.scripted import Scripted, View
from groundfault.models.agent.settings import Settings
from groundfault.models.agent.traces import Trace, Turn, read_traces, trace_of, write_trace

__all__ = [
    "Agent",
    "Episode",
    "Scene",
    "Scripted",
    "Settings",
    "Trace",
    "Turn",
    "View",
    "differences",
    "read_published",
    "read_traces",
    "replay",
    "trace_of",
    "write_trace",
]
