"""Segmenters that talk: a vision-language model that says [SEG] where it sees what it was asked
for, and a mask decoder of the SAM family that draws it.

The design is LISA's (Lai et al. 2023), with backbones of today: the state that predicts [SEG] goes
through a small projector into the decoder as a prompt. Trained by `groundfault.training.segvlm`.
"""
