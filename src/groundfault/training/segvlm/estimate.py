"""What a training will take, before it starts: data, weights, memory and time. Nothing is trained
and no weight is loaded; networks are built without memory from their configurations."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from typing import Any

import msgspec
import torch

from groundfault.errors import GroundfaultError
from groundfault.io.pictures import read_image
from groundfault.models.checkpoints import DEFAULTS
from groundfault.models.segvlm.decoders import FAMILIES, MaskDecoder
from groundfault.models.segvlm.rows import Reader
from groundfault.training.segvlm.cluster import shards
from groundfault.training.segvlm.mixture import Mixture
from groundfault.training.segvlm.recipe import Recipe
from groundfault.training.segvlm.samples import put

__all__ = ["Estimate", "SourceShare", "estimate"]

PEAKS = {"H200": 990e12, "H100": 990e12, "A100": 312e12, "L40S": 181e12, "L40": 181e12,
         "L4": 60e12, "4090": 165e12, "A10": 70e12}  # fmt: skip
"""Dense bf16 operations per second, by parts of the names of devices."""
USED = 0.35
"""Of a device's peak that trainings of this kind reach."""
PASSES, PASSES_TWICE = 4, 6
"""Operations per weight and token: forward 2, backward to the inputs 2, forward again 2."""
PER_LAYER, PER_LAYER_TWICE = 34, 2
"""Numbers kept per token and hidden unit in each layer, without and with checkpointing."""
PROBES = 8
"""Samples whose tokens are counted."""
GB = 1 << 30


class SourceShare(msgspec.Struct, frozen=True, kw_only=True):
    """What a source contributes."""

    name: str
    share: float
    strata: dict[str, int]
    """Groups in each."""
    samples: int
    left_out: int = 0
    """Samples whose pictures are measured on."""


class Estimate(msgspec.Struct, frozen=True, kw_only=True):
    """What a training will take."""

    sources: list[SourceShare]
    questions_per_step: float
    tokens_per_question: float
    """0 where the vocabulary is not at hand."""
    parameters: int
    trained: int
    memory_gb: dict[str, float]
    memory_there_gb: float
    device: str
    hours: float | None
    """None where the device's speed is not known."""


def estimate(
    recipe: Recipe, mixture: Mixture, left_out: Mapping[str, int] | None = None
) -> Estimate:
    """Count, and multiply."""
    drawn = [each for step in range(3) for each in mixture.step(step)]
    questions = sum(len(each.samples) for each in drawn) / 3
    network, trained, reader, hidden, layers, words = _networks(recipe)
    tokens, answer = _tokens(reader, mixture) if reader is not None else (512.0, 32.0)
    lower = recipe.optimiser.precision == "bf16" or torch.cuda.is_available()
    memory = _memory(recipe, network, trained, hidden, layers, words, tokens, answer, lower)
    device, speed, there = _device()
    passes = PASSES_TWICE if recipe.optimiser.checkpointing else PASSES
    work = passes * network * tokens * questions * recipe.steps
    return Estimate(
        sources=_sources(mixture, left_out or {}),
        questions_per_step=round(questions, 1),
        tokens_per_question=round(tokens, 1),
        parameters=network,
        trained=trained,
        memory_gb={name: round(value / GB, 3) for name, value in memory.items()},
        memory_there_gb=round(there / GB, 1),
        device=device,
        hours=work / speed / 3600 if speed else None,
    )


def _sources(mixture: Mixture, left_out: Mapping[str, int]) -> list[SourceShare]:
    return [
        SourceShare(
            name=source.name,
            share=round(float(rate), 4),
            strata={name: len(groups) for name, groups in source.strata.items()},
            samples=len(source.samples),
            left_out=left_out.get(source.name, 0),
        )
        for source, rate in zip(mixture.sources, mixture.rates, strict=True)
    ]


def _networks(recipe: Recipe) -> tuple[int, int, Any, int, int, int]:
    """Weights, trained weights, reader, hidden size, layers and words of what learns."""
    import transformers

    classes: Any = transformers
    if recipe.cure != "segvlm":
        return _cure(recipe, classes)
    config = _config(classes, recipe.model.vlm, recipe)
    with torch.device("meta"):
        vlm = classes.AutoModelForImageTextToText.from_config(config)
        decoder = _decoder(classes, recipe)
    text = config.get_text_config()
    own = _lora(vlm, recipe) + _rows(vlm, recipe)
    own += sum(p.numel() for p in decoder.parameters() if p.requires_grad)
    own += text.hidden_size**2 + text.hidden_size * decoder.width
    total = sum(p.numel() for part in (vlm, decoder) for p in part.parameters()) + own
    processor = classes.AutoProcessor.from_pretrained(
        recipe.model.vlm, revision=recipe.model.revision or "main"
    )
    reader = Reader(processor, max_pixels=recipe.model.max_pixels)
    return total, own, reader, text.hidden_size, text.num_hidden_layers, text.vocab_size


def _decoder(classes: Any, recipe: Recipe) -> MaskDecoder:
    config = _config(classes, recipe.model.decoder, recipe)
    if config.model_type not in FAMILIES:
        raise GroundfaultError(f"{recipe.model.decoder} is a '{config.model_type}', no SAM")
    model, processor = (getattr(classes, name) for name in FAMILIES[config.model_type])
    own = getattr(classes, model.config_class.__name__)
    config = own.from_pretrained(recipe.model.decoder) if type(config) is not own else config
    with torch.device("cpu"):
        images = processor.from_pretrained(recipe.model.decoder)
    return MaskDecoder(model(config), images)


def _config(classes: Any, name: str, recipe: Recipe) -> Any:
    try:
        return classes.AutoConfig.from_pretrained(name, revision=recipe.model.revision or "main")
    except (OSError, ValueError) as problem:
        raise GroundfaultError(
            f"{name}: its configuration cannot be had ({str(problem).splitlines()[0]}). Give a "
            "folder, or a name on the hub that can be reached"
        ) from None


def _lora(vlm: Any, recipe: Recipe) -> int:
    """Weights of LoRA on the language model."""
    return sum(
        recipe.lora.r * (layer.in_features + layer.out_features)
        for name, layer in vlm.named_modules()
        if isinstance(layer, torch.nn.Linear)
        and "language_model" in name
        and name.rpartition(".")[2] in recipe.lora.targets
    )


def _rows(vlm: Any, recipe: Recipe) -> int:
    """Weights of the vocabulary that learn."""
    table = vlm.get_input_embeddings().weight
    tables = 1 if vlm.get_output_embeddings().weight is table else 2
    return int(tables * (table.numel() if recipe.lora.rows == "all" else table.shape[1]))


def _cure(recipe: Recipe, classes: Any) -> tuple[int, int, Any, int, int, int]:
    from groundfault.training.segvlm.cures import CURES

    family = CURES[recipe.cure]
    name = recipe.model.network or DEFAULTS[family.adapter][0]
    model = getattr(classes, family.model)
    config = model.config_class.from_pretrained(name)
    with torch.device("meta"):
        network = model(config)
    parts = recipe.model.trained or family.trained
    trained = sum(
        value.numel()
        for own, value in network.named_parameters()
        if any(part in own for part in parts)
    )
    return sum(p.numel() for p in network.parameters()), trained, None, 256, 6, 0


def _tokens(reader: Reader, mixture: Mixture) -> tuple[float, float]:
    """Tokens of a question with its picture and answer, and of an answer, on average."""
    asked = [one for drawn in mixture.step(0) for one in put(drawn.samples, 0)][:PROBES]
    lengths, answers = [], []
    for one in asked:
        rows = reader.rows([read_image(one.sample.image)], [one.question], [one.answer], [True])
        lengths.append(rows.labels.shape[1])
        answers.append(rows.n_answer)
    return sum(lengths) / len(lengths), sum(answers) / len(answers)


def _memory(
    recipe: Recipe,
    network: int,
    trained: int,
    hidden: int,
    layers: int,
    words: int,
    tokens: float,
    answer: float,
    lower: bool,
) -> dict[str, float]:
    """Bytes by what they are for, in one process."""
    size = 2 if lower else 4
    rows = recipe.optimiser.micro_batch
    kept = PER_LAYER_TWICE if recipe.optimiser.checkpointing else PER_LAYER
    spread = shards() if recipe.cure == "segvlm" else 1
    found = {
        "weights": (network - trained) * size / spread + trained * 4.0,
        "gradients and AdamW": trained * 12.0,
        "activations": rows * tokens * hidden * (layers * kept + PER_LAYER) * size,
        "words": rows * answer * words * 8.0,
    }
    return found | {"together": sum(found.values())}


def _device() -> tuple[str, float, float]:
    """Name, operations per second and bytes of what it would run on."""
    if torch.cuda.is_available():
        name = torch.cuda.get_device_name()
        peak = next((value for part, value in PEAKS.items() if part in name), 0.0)
        n = torch.cuda.device_count()
        return f"{n} x {name}", n * peak * USED, float(torch.cuda.mem_get_info()[1])
    there = float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    return "CPU", _measured(), there


def _measured() -> float:
    """Operations per second of this CPU: the best of three multiplications."""
    left = torch.ones(768, 768)
    best = float("inf")
    for _ in range(3):
        start = time.perf_counter()
        left @ left
        best = min(best, time.perf_counter() - start)
    return 2 * 768**3 / best * USED
