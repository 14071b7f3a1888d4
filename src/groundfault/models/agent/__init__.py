"""The verifying agent: a multimodal LLM that uses a segmenter as its tool (CAFE, §5.2, Appendix D).

Just another segmenter: `--model "agent:SEGMENTER+ANSWERER"`, or `Agent(segmenter, answerer)`.
`turns` has the rules, `reading` what a reply may ask for, `pictures` what the model is shown,
`traces` and `replaying` what is kept of an episode.
"""

from groundfault.models.agent.holding import Agent
from groundfault.models.agent.published import read_published
from groundfault.models.agent.replaying import differences, replay
from groundfault.models.agent.scripted import Scripted, View
from groundfault.models.agent.segmenting import Encoder
from groundfault.models.agent.settings import Settings
from groundfault.models.agent.traces import Trace, Turn, read_traces, trace_of, write_trace
from groundfault.models.agent.turns import Episode, Scene

__all__ = [
    "Agent",
    "Encoder",
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
