"""Counterfactual fine-tuning of real segmenters: RobustSeg's recipe (Li et al. 2025) on backbones
that can be had, and the same data for detectors and SAM 3."""
