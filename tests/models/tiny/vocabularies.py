"""Tokenizers that need no download: they spell words letter by letter."""

from __future__ import annotations

import string
from typing import Any


def clip_tokenizer(length: int) -> Any:
    """CLIP's tokenizer without merges: 256 bytes, each inside and at the end of a word."""
    from tokenizers.pre_tokenizers import ByteLevel
    from transformers import CLIPTokenizer

    letters = sorted(ByteLevel.alphabet())
    tokens = [*letters, *(f"{letter}</w>" for letter in letters)]
    tokens += ["<|startoftext|>", "<|endoftext|>"]
    vocabulary = {token: number for number, token in enumerate(tokens)}
    return CLIPTokenizer(vocab=vocabulary, merges=[], model_max_length=length)


def bert_tokenizer(length: int) -> Any:
    """BERT's tokenizer of letters, with its special tokens at their usual numbers: Grounding DINO
    finds the ends of phrases by those numbers (101 [CLS], 102 [SEP], 1012 '.', 1029 '?')."""
    from transformers import BertTokenizer

    fixed = {0: "[PAD]", 100: "[UNK]", 101: "[CLS]", 102: "[SEP]", 103: "[MASK]"}
    fixed |= {1012: ".", 1029: "?"}
    letters = string.ascii_lowercase + string.digits
    spelled = [*letters, *(f"##{letter}" for letter in letters)]
    fixed |= dict(enumerate(spelled, start=1030))
    tokens = [fixed.get(number, f"[unused{number}]") for number in range(max(fixed) + 1)]
    vocabulary = {token: number for number, token in enumerate(tokens)}
    return BertTokenizer(vocab=vocabulary, model_max_length=length)
