"""The real classes with a few thousand random weights, and the processors that go with them.

Each function gives (model, processor); `saved` writes both as a hub checkpoint would be.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.models.tiny.vocabularies import bert_tokenizer, clip_tokenizer

SAM3_PX = 112
SAM2_PX = 128
SAM_PX = 64


def saved(folder: Path, parts: tuple[Any, Any]) -> Path:
    """Write a model and its processor into a folder."""
    for part in parts:
        part.save_pretrained(folder)
    return folder


def _seeded(model_class: Any, config: Any) -> Any:
    import torch

    with torch.random.fork_rng():
        torch.manual_seed(0)
        return model_class(config).eval()


def _text(tokenizer: Any, **sizes: int) -> dict[str, Any]:
    """A CLIP text encoder's configuration."""
    return {
        "vocab_size": len(tokenizer),
        "num_hidden_layers": 2,
        "max_position_embeddings": tokenizer.model_max_length,
        "bos_token_id": tokenizer.bos_token_id,
        "eos_token_id": tokenizer.eos_token_id,
        "pad_token_id": tokenizer.pad_token_id,
        **sizes,
    }


_SMALL = {"hidden_size": 32, "intermediate_size": 64, "num_attention_heads": 4}


def sam3() -> tuple[Any, Any]:
    """SAM 3 at 112 px with 8 queries."""
    import transformers as t

    tokenizer = clip_tokenizer(32)
    vit = t.Sam3ViTConfig(
        **_SMALL,
        num_hidden_layers=2,
        image_size=SAM3_PX,
        pretrain_image_size=SAM3_PX,
        patch_size=14,
        window_size=4,
        global_attn_indexes=[1],
    )
    config = t.Sam3Config(
        vision_config=t.Sam3VisionConfig(
            backbone_config=vit, fpn_hidden_size=32, scale_factors=[4.0, 2.0, 1.0, 0.5]
        ),
        text_config={
            "model_type": "clip_text_model",
            **_text(tokenizer, projection_dim=32, **_SMALL),
        },
        geometry_encoder_config=t.Sam3GeometryEncoderConfig(num_layers=1, **_SMALL),
        detr_encoder_config=t.Sam3DETREncoderConfig(num_layers=1, **_SMALL),
        detr_decoder_config=t.Sam3DETRDecoderConfig(num_layers=2, num_queries=8, **_SMALL),
        mask_decoder_config=t.Sam3MaskDecoderConfig(
            num_upsampling_stages=3, hidden_size=32, num_attention_heads=4
        ),
    )
    images = t.Sam3ImageProcessor(size={"height": SAM3_PX, "width": SAM3_PX})
    return _seeded(t.Sam3Model, config), t.Sam3Processor(images, tokenizer)


def grounding_dino() -> tuple[Any, Any]:
    """Grounding DINO at 96 to 128 px with 10 queries."""
    import transformers as t

    tokenizer = bert_tokenizer(256)
    config = t.GroundingDinoConfig(
        d_model=32,
        encoder_layers=2,
        decoder_layers=2,
        encoder_attention_heads=4,
        decoder_attention_heads=4,
        encoder_ffn_dim=32,
        decoder_ffn_dim=32,
        num_queries=10,
        num_feature_levels=4,
        encoder_n_points=2,
        decoder_n_points=2,
        max_text_len=256,
        backbone_config=t.SwinConfig(
            embed_dim=8,
            depths=[1] * 4,
            num_heads=[1] * 4,
            window_size=7,
            image_size=128,
            out_indices=[2, 3, 4],
        ),
        text_config={
            "model_type": "bert",
            "vocab_size": len(tokenizer),
            "hidden_size": 16,
            "num_hidden_layers": 2,
            "num_attention_heads": 2,
            "intermediate_size": 32,
            "max_position_embeddings": 256,
        },
    )
    images = t.GroundingDinoImageProcessor(size={"shortest_edge": 96, "longest_edge": 128})
    model = _seeded(t.GroundingDinoForObjectDetection, config)
    return model, t.GroundingDinoProcessor(images, tokenizer)


def sam2() -> tuple[Any, Any]:
    """SAM 2 at 128 px."""
    import transformers as t

    hiera = t.Sam2HieraDetConfig(
        hidden_size=12,
        image_size=[SAM2_PX, SAM2_PX],
        blocks_per_stage=[1, 2, 3, 1],
        embed_dim_per_stage=[12, 24, 48, 96],
        num_attention_heads_per_stage=[1, 2, 4, 8],
        window_size_per_stage=[8, 4, 4, 4],
        global_attention_blocks=[4],
    )
    config = t.Sam2Config(
        vision_config=t.Sam2VisionConfig(
            backbone_config=hiera,
            backbone_channel_list=[96, 48, 24, 12],
            backbone_feature_sizes=[[32, 32], [16, 16], [8, 8]],
            fpn_hidden_size=32,
        ),
        prompt_encoder_config=t.Sam2PromptEncoderConfig(
            image_size=SAM2_PX, patch_size=16, mask_input_channels=8, hidden_size=32
        ),
        mask_decoder_config=t.Sam2MaskDecoderConfig(
            hidden_size=32,
            mlp_dim=64,
            num_hidden_layers=2,
            num_attention_heads=4,
            iou_head_hidden_dim=32,
        ),
    )
    images = t.Sam2ImageProcessor(
        size={"height": SAM2_PX, "width": SAM2_PX},
        mask_size={"height": SAM2_PX // 4, "width": SAM2_PX // 4},
    )
    return _seeded(t.Sam2Model, config), t.Sam2Processor(images)


def sam() -> tuple[Any, Any]:
    """SAM at 64 px."""
    import transformers as t

    config = t.SamConfig(
        vision_config=t.SamVisionConfig(
            hidden_size=32,
            output_channels=32,
            num_hidden_layers=2,
            num_attention_heads=4,
            image_size=SAM_PX,
            patch_size=16,
            window_size=2,
            global_attn_indexes=[1],
            mlp_dim=64,
            num_pos_feats=16,
        ),
        prompt_encoder_config=t.SamPromptEncoderConfig(
            hidden_size=32,
            image_size=SAM_PX,
            patch_size=16,
            mask_input_channels=8,
            image_embedding_size=SAM_PX // 16,
        ),
        mask_decoder_config=t.SamMaskDecoderConfig(
            hidden_size=32, mlp_dim=64, num_attention_heads=4, iou_head_hidden_dim=32
        ),
    )
    images = t.SamImageProcessor(
        size={"longest_edge": SAM_PX},
        pad_size={"height": SAM_PX, "width": SAM_PX},
        mask_size={"longest_edge": SAM_PX // 4},
        mask_pad_size={"height": SAM_PX // 4, "width": SAM_PX // 4},
    )
    return _seeded(t.SamModel, config), t.SamProcessor(images)


def owlv2() -> tuple[Any, Any]:
    """OWLv2 at 64 px: 16 boxes."""
    import transformers as t

    tokenizer = clip_tokenizer(16)
    tokenizer.pad_token = "!"  # as the published checkpoints do; its number is 0
    config = t.Owlv2Config(
        text_config=_text(tokenizer, **_SMALL),
        vision_config={**_SMALL, "num_hidden_layers": 2, "image_size": 64, "patch_size": 16},
        projection_dim=32,
    )
    images = t.Owlv2ImageProcessor(size={"height": 64, "width": 64})
    return _seeded(t.Owlv2ForObjectDetection, config), t.Owlv2Processor(images, tokenizer)


def clipseg() -> tuple[Any, Any]:
    """CLIPSeg at 64 px."""
    import transformers as t

    tokenizer = clip_tokenizer(32)
    config = t.CLIPSegConfig(
        text_config=_text(tokenizer, **_SMALL),
        vision_config={**_SMALL, "num_hidden_layers": 2, "image_size": 64, "patch_size": 16},
        projection_dim=32,
        reduce_dim=16,
        extract_layers=[0, 1],
        conditional_layer=0,
        decoder_num_attention_heads=2,
        decoder_intermediate_size=32,
    )
    images = t.ViTImageProcessor(size={"height": 64, "width": 64})
    return _seeded(t.CLIPSegForImageSegmentation, config), t.CLIPSegProcessor(images, tokenizer)


def omdet() -> tuple[Any, Any]:
    """OmDet-Turbo at 224 px with 20 queries."""
    import transformers as t

    tokenizer = clip_tokenizer(77)
    config = t.OmDetTurboConfig(
        text_config={
            "model_type": "clip_text_model",
            **_text(tokenizer, hidden_size=16, intermediate_size=32, num_attention_heads=2),
        },
        backbone_config={
            "model_type": "swin",
            "embed_dim": 8,
            "depths": (1,) * 4,
            "num_heads": (1,) * 4,
            "window_size": 7,
            "image_size": 224,
            "out_indices": (2, 3, 4),
        },
        use_timm_backbone=False,
        backbone=None,
        apply_layernorm_after_vision_backbone=False,
        image_size=224,
        num_queries=20,
        num_feature_levels=3,
        encoder_in_channels=(16, 32, 64),
        vision_features_channels=[8, 8, 8],
        encoder_layers=1,
        encoder_projection_indices=[2],
        encoder_attention_heads=2,
        encoder_hidden_dim=8,
        encoder_dim_feedforward=32,
        decoder_num_layers=2,
        decoder_num_heads=2,
        decoder_num_points=4,
        decoder_hidden_dim=8,
        decoder_dim_feedforward=32,
        task_encoder_hidden_dim=32,
        class_embed_dim=16,
        text_projection_in_dim=16,
        text_projection_out_dim=16,
    )
    images = t.DetrImageProcessor(size={"height": 224, "width": 224}, do_pad=False)
    return _seeded(t.OmDetTurboForObjectDetection, config), t.OmDetTurboProcessor(images, tokenizer)
