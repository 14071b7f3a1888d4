"""Small exams to ask: counting samples of eight questions, each picture its own."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

from PIL import Image

from groundfault.benchmarks.reactbench import (
    LAYOUT,
    Polarity,
    Question,
    Sample,
    Task,
    write_exam,
)
from groundfault.records import Benchmark


def jpeg(number: int, width_px: int = 32, height_px: int = 24) -> bytes:
    """A picture that no other number has."""
    target = BytesIO()
    image = Image.new("RGB", (width_px, height_px), "teal")
    image.save(target, "JPEG", comment=str(number).encode())
    return target.getvalue()


def counting_exam(folder: Path, n_samples: int) -> Benchmark:
    """An exam of 8 × n questions, each with words of its own."""
    samples, questions, pictures = [], [], {}
    for number in range(n_samples):
        sample = Sample(
            id=f"s{number:05d}",
            task="counting",
            images=(f"s{number:05d}.jpg",),
            height_px=24,
            width_px=32,
            facts={"object": "cup", "count": "7"},
        )
        samples.append(sample)
        pictures[sample.images[0]] = jpeg(number)
        questions += [_question(sample, place) for place in range(8)]
    return write_exam(folder, samples, questions, pictures)


def _question(sample: Sample, place: int) -> Question:
    kind, dimension = LAYOUT["counting"][place]
    interval = dimension == "interval"
    answers = {"YN": "yes", "SA": "5-9" if interval else "7", "MC": "B"}
    return Question(
        id=f"{sample.id}:Q{place + 1}",
        sample_id=sample.id,
        number=place + 1,
        type=kind,
        dimension=dimension,
        text=f"{sample.id}, question {place + 1}: how many cups?",
        options=(("1-3", "5-9") if interval else ("3", "7")) if kind == "MC" else (),
        answer=answers[kind],
        rubric="7 cups" if kind == "SA" else "",
        polarity="affirmed" if kind == "YN" else "",
    )


FACTS: dict[Task, dict[str, str]] = {
    "erasure": {"erased": "lamp", "relation": "on", "kept": "table", "location": "on the table"},
    "attribute": {"object": "apple", "usual": "red", "shown": "blue"},
    "tracing": {"operation": "remove", "object": "dog", "location": "the left part"},
    "counting": {"object": "cup", "count": "7"},
}
SHORT_ANSWERS: dict[Task, str] = {
    "erasure": "There is no lamp on the table.",
    "attribute": "The apple is blue.",
    "tracing": "The dog was removed.",
    "counting": "7",
}


def _polarity(task: Task, kind: str, number: int) -> Polarity:
    if kind != "YN":
        return ""
    return "negated" if task == "tracing" and number % 2 == 0 else "affirmed"


def _options(task: Task, dimension: str, right: int) -> tuple[str, ...]:
    """Four options, the right one at its place."""
    if task != "counting":
        return ("this", "that", "more", "less")
    found = ["20-24", "30-34", "40-44"] if dimension == "interval" else ["20", "30", "40"]
    found.insert(right, "5-9" if dimension == "interval" else "7")
    return tuple(found)


def whole_exam(folder: Path, per_task: int = 2) -> Benchmark:
    """An exam of all four tasks; every question names itself, so that a server knows it."""
    samples, questions, pictures = [], [], {}
    for task, layout in LAYOUT.items():
        for copy in range(per_task):
            name = f"{task}{copy}"
            n = 2 if task == "tracing" else 1
            images = tuple(f"{name}-{k}.jpg" for k in range(n))
            samples.append(
                Sample(
                    id=name, task=task, images=images, height_px=24, width_px=32, facts=FACTS[task]
                )
            )
            pictures |= {image: jpeg(1000 * len(samples) + k) for k, image in enumerate(images)}
            for number, (kind, dimension) in enumerate(layout, start=1):
                place, yes_no = (number + copy) % 4, ("yes", "no")[number % 2]
                short = "5-9" if dimension == "interval" else SHORT_ANSWERS[task]
                questions.append(
                    Question(
                        id=f"{name}:Q{number}",
                        sample_id=name,
                        number=number,
                        type=kind,
                        dimension=dimension,
                        text=f"({name}:Q{number}) What is there?",
                        options=_options(task, dimension, place) if kind == "MC" else (),
                        answer={"YN": yes_no, "MC": "ABCD"[place], "SA": short}[kind],
                        rubric=f"right: {short}" if kind == "SA" else "",
                        polarity=_polarity(task, kind, number),
                    )
                )
    return write_exam(folder, samples, questions, pictures)
