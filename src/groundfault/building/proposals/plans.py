"""What a model is asked for a candidate, step by step, and what becomes of its replies.

A step fills a prompt and reads the reply into what is known so far, or into why the candidate ends
here; None says that there is nothing to propose. A plan ends with a proposal.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import NamedTuple

from groundfault.building.proposals.exam_fields import count_of, erasure_fields
from groundfault.building.proposals.exam_rules import OPERATIONS, assigned_operations
from groundfault.building.proposals.kinds import named
from groundfault.building.proposals.prompts import fill, load_prompt, safe
from groundfault.building.proposals.tables import MATERIALS, SURFACES, usual
from groundfault.building.proposals.words import head, plain
from groundfault.building.records import Candidate, Dropped, Proposal
from groundfault.parsing import proposals as parsing
from groundfault.parsing.proposals import NotInForm

__all__ = ["PROMPTS", "Ask", "Known", "Plan", "Step", "field_plan", "plan_of"]

Known = Mapping[str, str]
Ask = Callable[[Candidate, Known, str], str]
"""The words of a request: of a candidate, what is known, and how its target is shown."""
Read = Callable[[Candidate, Known, str], "dict[str, str] | Dropped | None"]


class Step(NamedTuple):
    """One request."""

    prompts: tuple[str, ...]
    ask: Ask
    read: Read
    seen: bool = True
    """Whether the photograph is shown."""
    proposes: bool = True
    """Whether a proposal can be made, and checked, when it has been read."""


class Plan(NamedTuple):
    """The requests about a candidate, and how they end."""

    steps: tuple[Step, ...]
    finish: Callable[[Candidate, Known], Proposal]


def plan_of(candidate: Candidate) -> Plan:
    """What is asked about a candidate."""
    if candidate.task in ("SM", "CC", "OC"):
        return CAFE
    if candidate.task == "replacement":
        return REASONING if candidate.target.questions else REPLACEMENT
    return _EXAMS[candidate.task]


def field_plan(candidate: Candidate) -> Plan | None:
    """What is asked about an edited candidate for its questions; None where its fields are known
    already."""
    return {"erasure": ERASURE_FIELDS, "attribute": ATTRIBUTE_FIELDS}.get(candidate.task)


def _ask_cafe(candidate: Candidate, known: Known, shown: str) -> str:
    return fill(
        "cafe",
        category=safe(candidate.target.category),
        shown=shown,
        type=candidate.task,
        rules=load_prompt(f"cafe-{candidate.task}").text,
    )


def _read_cafe(candidate: Candidate, known: Known, text: str) -> dict[str, str] | None:
    found = parsing.parse_cafe(text)
    if found is not None and found["type"].upper() != candidate.task:
        raise NotInForm(f"The type is {found['type']}, but {candidate.task} was asked for.")
    return found


_KINDS = {"SM": "surface", "OC": "material", "CC": "context"}


def _finish_cafe(candidate: Candidate, known: Known) -> Proposal:
    positive, negative = known["positive_prompt"], known["negative_prompt"]
    value = ""
    if candidate.task == "SM":
        found = (s.name for s in SURFACES.values() if plain(negative) == s.typical_of)
        value = next(found, "")
    elif candidate.task == "OC":
        value = next((word for word in plain(positive).split() if word in MATERIALS), "")
    return Proposal(
        kind=_KINDS[candidate.task],
        value=value,
        instruction=known["edit_instruction"],
        positive=positive,
        negative=negative,
        rationale=known["rationales"],
    )


CAFE = Plan((Step(("cafe", "cafe-SM", "cafe-OC", "cafe-CC"), _ask_cafe, _read_cafe),), _finish_cafe)


def _described(candidate: Candidate) -> str:
    return next(iter((*candidate.target.phrases, *candidate.target.questions)), "nothing")


def _ask_replacement(candidate: Candidate, known: Known, shown: str) -> str:
    category = candidate.target.category or known.get("label", "not named")
    described = safe(_described(candidate))
    return fill("replacement", category=safe(category), description=described, shown=shown)


def _read_replacement(candidate: Candidate, known: Known, text: str) -> dict[str, str]:
    old, new = parsing.parse_change(text)
    return {"instruction": f"Change {old} to {new}.", "old": old, "new": new}


def _finish_replacement(candidate: Candidate, known: Known) -> Proposal:
    fields = {
        "category": candidate.target.category,
        "label": known.get("label", ""),
        "question": candidate.target.questions[0] if "rewritten" in known else "",
        "counterfactual_question": known.get("rewritten", ""),
    }
    return Proposal(
        kind="replace",
        value=named(known["new"]) or head(known["new"]),
        instruction=known["instruction"],
        positive=known["old"],
        negative=known["new"],
        fields={name: value for name, value in fields.items() if value},
    )


_REPLACE = Step(("replacement",), _ask_replacement, _read_replacement)
REPLACEMENT = Plan((_REPLACE,), _finish_replacement)


def _ask_label(candidate: Candidate, known: Known, shown: str) -> str:
    return fill("target-label", question=safe(candidate.target.questions[0]), shown=shown)


def _ask_question(candidate: Candidate, known: Known, shown: str) -> str:
    old, new = safe(known["old"]), safe(known["new"])
    return fill("question", old=old, new=new, question=safe(candidate.target.questions[0]))


REASONING = Plan(
    (
        Step(
            ("target-label",),
            _ask_label,
            lambda candidate, known, text: {"label": parsing.parse_line(text)},
            proposes=False,
        ),
        _REPLACE,
        Step(
            ("question",),
            _ask_question,
            lambda candidate, known, text: {"rewritten": parsing.parse_line(text)},
            seen=False,
        ),
    ),
    _finish_replacement,
)


def _relation(candidate: Candidate) -> str:
    return safe(candidate.facts.get("relation", "")) or "none is named"


def _ask_erasure(candidate: Candidate, known: Known, shown: str) -> str:
    category = safe(candidate.target.category)
    return fill("erasure", relation=_relation(candidate), category=category, shown=shown)


def _read_erasure(candidate: Candidate, known: Known, text: str) -> dict[str, str] | None:
    found = parsing.parse_instruction(text)
    return None if found is None else {"instruction": found}


def _finish_erasure(candidate: Candidate, known: Known) -> Proposal:
    rng = random.Random(f"{candidate.seed} {candidate.id}")
    return Proposal(
        kind="erase",
        value="",
        instruction=known["instruction"],
        positive=candidate.target.category,
        fields=erasure_fields(candidate, rng),
    )


def _ask_attribute(candidate: Candidate, known: Known, shown: str) -> str:
    of = usual(candidate.target.category)
    mined = candidate.facts.get("attribute", "")
    habits = mined or (", ".join((*of.colours[:2], *of.materials[:1])) if of else "nothing known")
    category = safe(candidate.target.category)
    return fill("attribute", category=category, shown=shown, usual=safe(habits))


DIRECTIONS = {"material": "material", "color": "recolour", "texture": "surface", "state": "state",
              "finish": "finish", "shape": "shape"}  # fmt: skip
"""The six directions of a counterfactual attribute, and the kinds of edit that they are."""


def _read_attribute(candidate: Candidate, known: Known, text: str) -> dict[str, str] | None:
    """The first or the second of two instructions, as `facts["variant"]` says, A or B."""
    found = parsing.parse_two_instructions(text)
    if found is None:
        return None
    direction, instruction = found[candidate.facts.get("variant") == "B"]
    return {"direction": direction, "instruction": instruction}


def _finish_attribute(candidate: Candidate, known: Known) -> Proposal:
    return Proposal(
        kind=DIRECTIONS[known["direction"]],
        value="",
        instruction=known["instruction"],
        positive=candidate.target.category,
        fields={"direction": known["direction"]},
    )


TRACING_FIELDS = (
    "edit_type", "editing_instruction", "A", "B", "C", "A_prime", "B_prime", "C_prime",
    *(f"choice_{group}_{k}" for group in ("1a_distractor", "2a", "3a", "1b", "2b", "3b")
      for k in (1, 2, 3)),
)  # fmt: skip


def _chain(candidate: Candidate) -> list[str]:
    """The assigned operation and its fallbacks; all of them where none is assigned."""
    rest = random.Random(f"{candidate.seed} {candidate.id}").sample(
        list(OPERATIONS), len(OPERATIONS)
    )
    return assigned_operations(candidate) or rest


def _ask_tracing(candidate: Candidate, known: Known, shown: str) -> str:
    chain, target = _chain(candidate), candidate.target
    same = sum(thing.category == target.category for thing in candidate.photograph.things)
    return fill(
        "tracing",
        category=safe(target.category),
        shown=shown,
        count=candidate.facts.get("same_instance_count", "") or str(same),
        operation=chain[0],
        fallbacks=", then ".join(chain[1:]) or "nothing",
    )


def _read_tracing(candidate: Candidate, known: Known, text: str) -> dict[str, str] | None:
    found = parsing.parse_fields(text, TRACING_FIELDS, ("chinese_name",))
    if found is not None and found["edit_type"] not in _chain(candidate):
        raise NotInForm(f"The edit_type is none of {', '.join(_chain(candidate))}.")
    return found


def _finish_tracing(candidate: Candidate, known: Known) -> Proposal:
    return Proposal(
        kind=OPERATIONS[known["edit_type"]],
        value="",
        instruction=known["editing_instruction"],
        positive=candidate.target.category,
        fields={name: known[name] for name in known if name != "editing_instruction"},
    )


def _ask_counting(candidate: Candidate, known: Known, shown: str) -> str:
    name = candidate.target.category
    return fill("counting", category=safe(name), count=str(count_of(candidate) or 0))


SEVERITIES = {"none": "false", "mild": "false", "moderate": "true", "severe": "true"}


def _read_counting(candidate: Candidate, known: Known, text: str) -> dict[str, str] | None:
    found = parsing.parse_json_fields(text, ("has_ambiguity", "severity"))
    if SEVERITIES.get(found["severity"]) != found["has_ambiguity"]:
        raise NotInForm(
            f"A severity of {found['severity'][:20]} does not go with has_ambiguity "
            f"{found['has_ambiguity'][:20]}."
        )
    return None if found["has_ambiguity"] == "true" else found


def _finish_counting(candidate: Candidate, known: Known) -> Proposal:
    name = candidate.target.category
    count = str(count_of(candidate) or 0)
    return Proposal(
        kind="none",
        value="",
        instruction="Leave the picture as it is.",
        positive=name,
        fields={"object": name, "count": count, **known},
    )


_EXAMS = {
    "erasure": Plan((Step(("erasure",), _ask_erasure, _read_erasure),), _finish_erasure),
    "attribute": Plan((Step(("attribute",), _ask_attribute, _read_attribute),), _finish_attribute),
    "tracing": Plan((Step(("tracing",), _ask_tracing, _read_tracing),), _finish_tracing),
    "counting": Plan((Step(("counting",), _ask_counting, _read_counting),), _finish_counting),
}

ERASED = ("verification_status", "verification_issues", "discard_instance", "discard_reason",
    "B_name", "B_count_descriptor", "A_location", "remaining_at_A", "same_type_elsewhere",
    "same_type_elsewhere_detail", "common_knowledge", "attribute_type", "attribute_value",
    "absurd_object_1", "absurd_object_2", "B_full_desc", "B_variant_1", "B_variant_2",
    "B_variant_3", "B_variant_4", "attribute_option_1", "attribute_option_2",
    "attribute_option_3", "nothing_desc")  # fmt: skip
CHANGED = ("usable", "unusable_reason", "A_object", "A_number", "attribute_type",
    "B_original_attribute", "C_new_attribute", "D_location", "D_alt_location",
    "plausible_wrong_attribute_1", "plausible_wrong_attribute_2", "E_absurd_same_slot",
    "absurd_attribute_2", "wrong_location_1", "wrong_location_2", "wrong_location_3")  # fmt: skip


def _instruction(candidate: Candidate) -> str:
    return safe(candidate.proposal.instruction) if candidate.proposal else ""


def _ask_erased(candidate: Candidate, known: Known, shown: str) -> str:
    return fill(
        "erasure-fields",
        instruction=_instruction(candidate),
        relation=_relation(candidate),
        category=safe(candidate.target.category),
    )


def _read_erased(candidate: Candidate, known: Known, text: str) -> dict[str, str] | None:
    found = parsing.parse_fields(text, ERASED)
    if found is None or found["discard_instance"].casefold().startswith("yes"):
        return None
    return None if found["verification_status"].casefold() == "fail" else found


def _ask_changed(candidate: Candidate, known: Known, shown: str) -> str:
    category = safe(candidate.target.category)
    return fill("attribute-fields", instruction=_instruction(candidate), category=category)


def _read_changed(candidate: Candidate, known: Known, text: str) -> dict[str, str] | None:
    found = parsing.parse_json_fields(text, CHANGED)
    return found if found["usable"].casefold() == "yes" else None


def _with_fields(candidate: Candidate, known: Known) -> Proposal:
    from msgspec.structs import replace

    if candidate.proposal is None:
        raise ValueError(f"{candidate.id} has no proposal")
    return replace(candidate.proposal, fields={**candidate.proposal.fields, **known})


ERASURE_FIELDS = Plan((Step(("erasure-fields",), _ask_erased, _read_erased),), _with_fields)
ATTRIBUTE_FIELDS = Plan((Step(("attribute-fields",), _ask_changed, _read_changed),), _with_fields)

PROMPTS = tuple(
    sorted(
        {"repair"}.union(
            *(
                step.prompts
                for plan in (CAFE, REASONING, *_EXAMS.values(), ERASURE_FIELDS, ATTRIBUTE_FIELDS)
                for step in plan.steps
            )
        )
    )
)
"""All prompts that proposals depend on."""
