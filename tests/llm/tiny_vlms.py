"""Vision-language models of `transformers` with a few thousand random weights, as checkpoints."""

from __future__ import annotations

from pathlib import Path
from typing import Any

VISION_PX, PATCH_PX = 32, 8
CHAT = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{% if m['content'] is string %}"
    "{{ m['content'] }}{% else %}{% for c in m['content'] %}{% if c['type'] == 'image' %}IMAGE"
    "{% elif c['type'] == 'text' %}{{ c['text'] }}{% endif %}{% endfor %}{% endif %}<|im_end|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
TURNS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
_HEADS = {
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 4096,
    "bos_token_id": None,
}
_EYES = {"hidden_size": 32, "intermediate_size": 64}


def saved(folder: Path, name: str) -> Path:
    """A checkpoint on disk, as the hub would give it."""
    import torch

    with torch.random.fork_rng():
        torch.manual_seed(0)
        model, processor = BUILDERS[name]()
    tokenizer = processor.tokenizer
    model.generation_config.eos_token_id = tokenizer.eos_token_id
    model.generation_config.pad_token_id = tokenizer.pad_token_id
    model.eval().save_pretrained(folder)
    processor.save_pretrained(folder)
    return folder


def _tokenizer(specials: list[str], **named: Any) -> Any:
    """Bytes, no merges."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    made = Tokenizer(models.BPE(vocab={c: k for k, c in enumerate(alphabet)}, merges=[]))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    made.add_special_tokens([AddedToken(s, special=True, normalized=False) for s in specials])
    return PreTrainedTokenizerFast(
        tokenizer_object=made,
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
        padding_side="right",  # the wrong one: the adapter has to set it
        **named,
    )


def _text(tokenizer: Any, **more: Any) -> dict[str, Any]:
    return {
        **_HEADS,
        "vocab_size": len(tokenizer),
        "eos_token_id": tokenizer.eos_token_id,
        "pad_token_id": tokenizer.pad_token_id,
        **more,
    }


_QWEN = [*TURNS, *(f"<|{name}|>" for name in ("vision_start", "vision_end", "vision_pad"))]
_QWEN += ["<|image_pad|>", "<|video_pad|>"]
_QWEN_CHAT = CHAT.replace("IMAGE", "<|vision_start|><|image_pad|><|vision_end|>")


def _qwen_ids(tokenizer: Any) -> dict[str, int]:
    names = ("image_pad", "video_pad", "vision_start", "vision_end")
    fields = ("image_token_id", "video_token_id", "vision_start_token_id", "vision_end_token_id")
    return {
        field: tokenizer.convert_tokens_to_ids(f"<|{name}|>")
        for field, name in zip(fields, names, strict=True)
    }


def _rope(**more: Any) -> dict[str, Any]:
    return {
        "rope_parameters": {
            "rope_type": "default",
            "rope_theta": 10000.0,
            "mrope_section": [2, 3, 3],
            **more,
        }
    }


def qwen2_5_vl() -> tuple[Any, Any]:
    import transformers as t

    tokenizer = _tokenizer(_QWEN)
    config = t.Qwen2_5_VLConfig(
        text_config=_text(tokenizer, **_rope()),
        vision_config={
            **_EYES,
            "depth": 2,
            "num_heads": 2,
            "out_hidden_size": 64,
            "patch_size": 14,
            "spatial_merge_size": 2,
            "temporal_patch_size": 2,
            "window_size": 56,
            "fullatt_block_indexes": [1],
        },
        **_qwen_ids(tokenizer),
    )
    images = t.Qwen2VLImageProcessor(min_pixels=28 * 28, max_pixels=28 * 28 * 16)
    processor = t.Qwen2_5_VLProcessor(
        images, tokenizer, t.Qwen2VLVideoProcessor(), chat_template=_QWEN_CHAT
    )
    return t.Qwen2_5_VLForConditionalGeneration(config), processor


def _qwen3(config_class: str, model_class: str, text: dict[str, Any], **eyes: Any) -> Any:
    import transformers as t

    tokenizer = _tokenizer(_QWEN)
    config = getattr(t, config_class)(
        text_config=_text(tokenizer, head_dim=16, **text),
        vision_config={
            **_EYES,
            "depth": 2,
            "num_heads": 2,
            "out_hidden_size": 64,
            "patch_size": 16,
            "spatial_merge_size": 2,
            "temporal_patch_size": 2,
            "num_position_embeddings": 64,
            **eyes,
        },
        **_qwen_ids(tokenizer),
    )
    images = t.Qwen2VLImageProcessor(patch_size=16, min_pixels=32 * 32, max_pixels=32 * 32 * 16)
    processor = t.Qwen3VLProcessor(
        images, tokenizer, t.Qwen3VLVideoProcessor(), chat_template=_QWEN_CHAT
    )
    return getattr(t, model_class)(config), processor


def qwen3_vl() -> Any:
    return _qwen3(
        "Qwen3VLConfig",
        "Qwen3VLForConditionalGeneration",
        _rope(mrope_interleaved=True),
        deepstack_visual_indexes=[0, 1],
    )


def qwen3_5() -> Any:
    text = {
        **_rope(mrope_interleaved=True, partial_rotary_factor=1.0),
        "layer_types": ["linear_attention", "full_attention"],
        "linear_num_value_heads": 4,
        "linear_num_key_heads": 2,
        "linear_key_head_dim": 16,
        "linear_value_head_dim": 16,
        "linear_conv_kernel_dim": 4,
    }
    return _qwen3("Qwen3_5Config", "Qwen3_5ForConditionalGeneration", text)


def internvl3() -> tuple[Any, Any]:
    import transformers as t

    side, patch = 56, 14
    tokenizer = _tokenizer(
        [*TURNS, "<img>", "</img>", "<IMG_CONTEXT>", "<video>"],
        extra_special_tokens={
            "start_image_token": "<img>",
            "end_image_token": "</img>",
            "context_image_token": "<IMG_CONTEXT>",
            "video_token": "<video>",
        },
    )
    length = (side // patch) ** 2 // 4
    config = t.InternVLConfig(
        text_config=_text(tokenizer, model_type="qwen2"),
        vision_config={
            **_EYES,
            "num_hidden_layers": 2,
            "num_attention_heads": 4,
            "image_size": [side, side],
            "patch_size": [patch, patch],
        },
        image_token_id=tokenizer.context_image_token_id,
        image_seq_length=length,
        downsample_ratio=0.5,
    )
    size = {"height": side, "width": side}
    images = t.GotOcr2ImageProcessor(size=size, crop_to_patches=True, min_patches=1, max_patches=4)
    processor = t.InternVLProcessor(
        images,
        tokenizer,
        t.InternVLVideoProcessor(size=size),
        image_seq_length=length,
        chat_template=CHAT.replace("IMAGE", "<IMG_CONTEXT>\n"),
    )
    return t.InternVLForConditionalGeneration(config), processor


_LLAVA = [*TURNS, "<image>", "<video>"]
_LLAVA_CHAT = CHAT.replace("IMAGE", "<image>\n")


def llava_1_6() -> tuple[Any, Any]:
    import transformers as t

    tokenizer = _tokenizer(_LLAVA)
    grid = [[VISION_PX, 2 * VISION_PX], [2 * VISION_PX, VISION_PX], [2 * VISION_PX, 2 * VISION_PX]]
    config = t.LlavaNextConfig(
        text_config=_text(tokenizer, model_type="llama"),
        vision_config={
            **_EYES,
            "model_type": "clip_vision_model",
            "num_hidden_layers": 3,
            "num_attention_heads": 4,
            "image_size": VISION_PX,
            "patch_size": PATCH_PX,
            "projection_dim": 32,
        },
        image_token_index=tokenizer.convert_tokens_to_ids("<image>"),
        image_grid_pinpoints=grid,
        vision_feature_layer=-2,
        vision_feature_select_strategy="default",
    )
    images = t.LlavaNextImageProcessor(
        size={"shortest_edge": VISION_PX},
        crop_size={"height": VISION_PX, "width": VISION_PX},
        image_grid_pinpoints=grid,
    )
    processor = t.LlavaNextProcessor(
        images,
        tokenizer,
        patch_size=PATCH_PX,
        vision_feature_select_strategy="default",
        chat_template=_LLAVA_CHAT,
        num_additional_image_tokens=1,
    )
    return t.LlavaNextForConditionalGeneration(config), processor


def llava_onevision() -> tuple[Any, Any]:
    import transformers as t

    tokenizer = _tokenizer(_LLAVA)
    grid = [[k * VISION_PX, m * VISION_PX] for k in (1, 2) for m in (1, 2)]
    config = t.LlavaOnevisionConfig(
        text_config=_text(tokenizer, model_type="qwen2"),
        vision_config={
            **_EYES,
            "model_type": "siglip_vision_model",
            "num_hidden_layers": 2,
            "num_attention_heads": 4,
            "image_size": VISION_PX,
            "patch_size": PATCH_PX,
            "vision_use_head": False,
        },
        image_token_index=tokenizer.convert_tokens_to_ids("<image>"),
        video_token_index=tokenizer.convert_tokens_to_ids("<video>"),
        image_grid_pinpoints=grid,
        vision_feature_layer=-1,
        vision_feature_select_strategy="full",
    )
    images = t.LlavaOnevisionImageProcessor(
        size={"height": VISION_PX, "width": VISION_PX}, image_grid_pinpoints=grid
    )
    processor = t.LlavaOnevisionProcessor(
        images,
        tokenizer,
        t.LlavaOnevisionVideoProcessor(),
        num_image_tokens=(VISION_PX // PATCH_PX) ** 2,
        vision_feature_select_strategy="full",
        chat_template=_LLAVA_CHAT,
    )
    return t.LlavaOnevisionForConditionalGeneration(config), processor


BUILDERS = {
    "qwen2_5_vl": qwen2_5_vl,
    "qwen3_vl": qwen3_vl,
    "qwen3_5": qwen3_5,
    "internvl3": internvl3,
    "llava_1_6": llava_1_6,
    "llava_onevision": llava_onevision,
}
