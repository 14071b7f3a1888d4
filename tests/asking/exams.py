"""Small exams to ask: counting samples of eight questions, each picture its own."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

from PIL import Image

from groundfault.benchmarks.reactbench import LAYOUT, Exam, Question, Sample, write


def jpeg(number: int, width_px: int = 32, height_px: int = 24) -> bytes:
    """A picture that no other number has."""
    target = BytesIO()
    image = Image.new("RGB", (width_px, height_px), "teal")
    image.save(target, "JPEG", comment=str(number).encode())
    return target.getvalue()


def counting_exam(folder: Path, n_samples: int) -> Exam:
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
    return write(folder, samples, questions, pictures)


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
