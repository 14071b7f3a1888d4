"""Tiny checkpoints that can learn, and quads small enough to check by eye."""

from __future__ import annotations

import json
import pickle
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from tests.llm import tiny_vlms
from tests.models.tiny import networks

from groundfault.benchmarks import folder
from groundfault.io.masks import encode
from groundfault.records import Benchmark, Card, Case, Item, Region, Role

SIDE_PX = 64
COLOURS = {"red": (220, 30, 30), "blue": (30, 30, 220), "green": (30, 180, 30),
           "yellow": (230, 210, 40)}  # fmt: skip
SQUARE = [[4.0, 4.0, 20.0, 4.0, 20.0, 20.0, 4.0, 20.0]]
LEARNABLE = 5.0
"""Weights as large as a trained network's: with 0.02, nothing is learnt in a minute."""


def saved(where: Path, parts: tuple[Any, Any]) -> Path:
    """A model and its processor as a checkpoint, with weights that can learn."""
    import torch

    model, processor = parts
    with torch.no_grad():
        for value in model.parameters():
            if value.ndim > 1:
                value.mul_(LEARNABLE)
    tokenizer = getattr(processor, "tokenizer", None)
    if getattr(model, "generation_config", None) is not None and tokenizer is not None:
        model.generation_config.eos_token_id = tokenizer.eos_token_id
        model.generation_config.pad_token_id = tokenizer.pad_token_id
    model.eval().save_pretrained(where)
    processor.save_pretrained(where)
    return where


def vlm(name: str) -> tuple[Any, Any]:
    """A vision-language model by the name of its family."""
    import torch

    with torch.random.fork_rng():
        torch.manual_seed(0)
        return llava_1_5() if name == "llava_1_5" else tiny_vlms.BUILDERS[name]()


def llava_1_5() -> tuple[Any, Any]:
    """LLaVA 1.5: one square picture, CLIP's tower, a Llama."""
    import transformers as t

    side, patch = tiny_vlms.VISION_PX, tiny_vlms.PATCH_PX
    tokenizer = tiny_vlms._tokenizer([*tiny_vlms.TURNS, "<image>"])
    config = t.LlavaConfig(
        text_config=tiny_vlms._text(tokenizer, model_type="llama"),
        vision_config={
            "model_type": "clip_vision_model",
            "hidden_size": 32,
            "intermediate_size": 64,
            "num_hidden_layers": 3,
            "num_attention_heads": 4,
            "image_size": side,
            "patch_size": patch,
            "projection_dim": 32,
        },
        image_token_index=tokenizer.convert_tokens_to_ids("<image>"),
        vision_feature_layer=-2,
        vision_feature_select_strategy="default",
    )
    images = t.CLIPImageProcessor(
        size={"shortest_edge": side}, crop_size={"height": side, "width": side}
    )
    processor = t.LlavaProcessor(
        images,
        tokenizer,
        patch_size=patch,
        vision_feature_select_strategy="default",
        chat_template=tiny_vlms.CHAT.replace("IMAGE", "<image>\n"),
        num_additional_image_tokens=1,
    )
    return t.LlavaForConditionalGeneration(config), processor


def sam3_tracker() -> tuple[Any, Any]:
    """The tracker of SAM 3 at 112 px."""
    import torch
    import transformers as t

    side, small = networks.SAM3_PX, {"hidden_size": 32, "num_attention_heads": 4}
    vit = t.Sam3ViTConfig(
        **small,
        intermediate_size=64,
        num_hidden_layers=2,
        image_size=side,
        pretrain_image_size=side,
        patch_size=14,
        window_size=4,
        global_attn_indexes=[1],
    )
    config = t.Sam3TrackerConfig(
        vision_config=t.Sam3VisionConfig(
            backbone_config=vit,
            fpn_hidden_size=32,
            scale_factors=[4.0, 2.0, 1.0, 0.5],
            backbone_feature_sizes=[[32, 32], [16, 16], [8, 8]],
        ),
        prompt_encoder_config=t.Sam3TrackerPromptEncoderConfig(
            image_size=side, patch_size=14, mask_input_channels=8, hidden_size=32
        ),
        mask_decoder_config=t.Sam3TrackerMaskDecoderConfig(
            **small, mlp_dim=64, num_hidden_layers=2, iou_head_hidden_dim=32
        ),
    )
    images = t.Sam3ImageProcessor(
        size={"height": side, "width": side}, mask_size={"height": 32, "width": 32}
    )
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return t.Sam3TrackerModel(config).eval(), t.Sam3TrackerProcessor(images)


DECODERS = {"sam2": networks.sam2, "sam": networks.sam, "sam3_tracker": sam3_tracker}
CURES = {"sam3": networks.sam3, "grounding-dino": networks.grounding_dino, "owlv2": networks.owlv2}


def box(colour: str, x: int, y: int, side: int, ground: int = 200) -> tuple[Any, Any]:
    """A picture with one coloured box, and where it is."""
    pixels = np.full((SIDE_PX, SIDE_PX, 3), ground, np.uint8)
    pixels[::7] = ground - 40  # so that no two grounds look alike
    mask = np.zeros((SIDE_PX, SIDE_PX), bool)
    mask[y : y + side, x : x + side] = True
    pixels[mask] = COLOURS[colour]
    return pixels, mask


def write_quads(
    where: Path, quads: Sequence[tuple[str, str, int, int]], *, ground: int = 200
) -> Path:
    """Boxes of one colour replaced by those of another, as a folder of ours: (c, c', x, y)."""
    pictures = where.with_name(f"{where.name}-pictures")
    pictures.mkdir()
    cases, items = [], []
    for number, (first, second, x, y) in enumerate(quads):
        case = f"{number:03d}"
        task = "referring" if number % 2 == 0 else "reasoning"
        cases.append(Case(id=case, intervention="replacement", tags={
            "task": task, "label": f"{first} box", "edited_label": f"{second} box"}))  # fmt: skip
        shown = {}
        for name, colour in (("factual", first), ("counterfactual", second)):
            pixels, mask = box(colour, x, y, 24, ground - 9 * number)
            Image.fromarray(pixels).save(pictures / f"{case}-{name}.png")
            shown[colour] = (f"{case}-{name}.png", Region(mask=encode(mask)))
        for role, seen, asked in (
            (Role.FACTUAL, first, first),
            (Role.TEXTUAL, first, second),
            (Role.VISUAL, second, first),
            (Role.COUNTERFACTUAL, second, second),
        ):
            picture, region = shown[seen]
            items.append(
                Item(
                    id=f"{case}:{role.value}",
                    case_id=case,
                    role=role,
                    images=(picture,),
                    height_px=SIDE_PX,
                    width_px=SIDE_PX,
                    query=f"the {asked} box",
                    regions=(region,) if seen == asked else (),
                    target=region,
                )
            )
    card = Card(
        name="boxes",
        protocol="replacement-quads",
        title="Boxes",
        source="drawn",
        licence="CC0-1.0",
        citation="none",
        main_metric="CCMS",
    )
    benchmark = Benchmark(card=card, cases=tuple(cases), items=tuple(items))
    folder.write(benchmark, where, images_from=pictures)
    return where


def photo(path: Path, seed: int, size: tuple[int, int] = (48, 40)) -> None:
    """Noise in large pixels: no two look alike."""
    path.parent.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(seed)
    small = rng.integers(0, 256, (6, 6, 3), dtype=np.uint8)
    Image.fromarray(small).resize(size, Image.Resampling.NEAREST).save(path)


def write_refer(where: Path) -> Path:
    """REFER's folder: three pictures, one of them for validation; a pickle, as it is published."""
    images, annotations, refs = [], [], []
    for number, split in ((1, "train"), (2, "train"), (3, "val")):
        name = f"COCO_train2014_{number:012d}.jpg"
        photo(where / "train2014" / name, number)
        images.append({"id": number, "file_name": name, "height": 40, "width": 48})
        annotations.append({"id": 10 + number, "image_id": number, "category_id": 1,
                            "segmentation": SQUARE, "area": 256, "bbox": [4, 4, 16, 16],
                            "iscrowd": 0})  # fmt: skip
        sentences = [{"sent": f"left {word}", "sent_id": 100 * number + k}
                     for k, word in enumerate(("cat", "animal", "pet", "one"))]  # fmt: skip
        refs.append({"ref_id": number, "ann_id": 10 + number, "image_id": number, "split": split,
                     "category_id": 1, "sentences": sentences})  # fmt: skip
    folder = where / "refcoco"
    folder.mkdir()
    content = {"images": images, "annotations": annotations,
               "categories": [{"id": 1, "name": "cat"}]}  # fmt: skip
    (folder / "instances.json").write_text(json.dumps(content))
    (folder / "refs(unc).p").write_bytes(pickle.dumps(refs, protocol=2))
    return folder
