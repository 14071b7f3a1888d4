"""Pipelines of diffusers with tiny random weights and tokenizers made in memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def clip_parts() -> tuple[Any, Any]:
    """A text encoder and its tokenizer of single bytes."""
    import torch
    import transformers
    from tokenizers.pre_tokenizers import ByteLevel

    letters = sorted(ByteLevel.alphabet())
    ends = [letter + "</w>" for letter in letters]
    vocabulary = {
        token: number
        for number, token in enumerate([*letters, *ends, "<|startoftext|>", "<|endoftext|>"])
    }
    tokenizer = transformers.CLIPTokenizer(vocab=vocabulary, merges=[], model_max_length=77)
    torch.manual_seed(0)
    config = transformers.CLIPTextConfig(
        bos_token_id=512,
        eos_token_id=513,
        pad_token_id=513,
        hidden_size=32,
        intermediate_size=37,
        num_attention_heads=4,
        num_hidden_layers=2,
        vocab_size=514,
        max_position_embeddings=77,
        projection_dim=32,
    )
    return transformers.CLIPTextModel(config).eval(), tokenizer


def inpainting(folder: Path) -> None:
    """A StableDiffusionInpaintPipeline."""
    import diffusers
    import torch

    encoder, tokenizer = clip_parts()
    torch.manual_seed(0)
    unet = diffusers.UNet2DConditionModel(
        block_out_channels=(32, 64),
        layers_per_block=1,
        sample_size=32,
        in_channels=9,
        out_channels=4,
        norm_num_groups=8,
        down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"),
        up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"),
        cross_attention_dim=32,
    )
    vae = diffusers.AutoencoderKL(
        block_out_channels=(32, 64),
        in_channels=3,
        out_channels=3,
        latent_channels=4,
        norm_num_groups=8,
        down_block_types=["DownEncoderBlock2D"] * 2,
        up_block_types=["UpDecoderBlock2D"] * 2,
    )
    diffusers.StableDiffusionInpaintPipeline(
        vae=vae,
        text_encoder=encoder,
        tokenizer=tokenizer,
        unet=unet,
        scheduler=diffusers.PNDMScheduler(skip_prk_steps=True),
        safety_checker=None,
        feature_extractor=None,
        requires_safety_checker=False,
    ).save_pretrained(folder)


def editing(folder: Path) -> None:
    """A FluxKontextPipeline, which takes a picture and words and no mask."""
    import diffusers
    import torch
    import transformers
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
    from tokenizers.pre_tokenizers import ByteLevel

    encoder, tokenizer = clip_parts()
    letters = {token: number for number, token in enumerate(sorted(ByteLevel.alphabet()))}
    bytewise = Tokenizer(models.BPE(vocab=letters, merges=[]))
    bytewise.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bytewise.decoder = decoders.ByteLevel()
    bytewise.add_special_tokens(
        [AddedToken(name, special=True, normalized=False) for name in ("</s>", "<pad>")]
    )
    second = transformers.PreTrainedTokenizerFast(
        tokenizer_object=bytewise, eos_token="</s>", pad_token="<pad>", model_max_length=512
    )
    torch.manual_seed(0)
    t5 = transformers.T5EncoderModel(
        transformers.T5Config(
            vocab_size=260, d_model=32, d_kv=8, d_ff=37, num_layers=2, num_heads=4
        )
    ).eval()
    transformer = diffusers.FluxTransformer2DModel(
        patch_size=1,
        in_channels=4,
        num_layers=1,
        num_single_layers=1,
        attention_head_dim=16,
        num_attention_heads=2,
        joint_attention_dim=32,
        pooled_projection_dim=32,
        axes_dims_rope=[4, 4, 8],
    )
    vae = diffusers.AutoencoderKL(
        sample_size=32,
        in_channels=3,
        out_channels=3,
        block_out_channels=(4,),
        layers_per_block=1,
        latent_channels=1,
        norm_num_groups=1,
        use_quant_conv=False,
        use_post_quant_conv=False,
        shift_factor=0.06,
        scaling_factor=1.5,
    )
    diffusers.FluxKontextPipeline(
        scheduler=diffusers.FlowMatchEulerDiscreteScheduler(),
        vae=vae,
        transformer=transformer,
        text_encoder=encoder,
        tokenizer=tokenizer,
        text_encoder_2=t5,
        tokenizer_2=second,
    ).save_pretrained(folder)
