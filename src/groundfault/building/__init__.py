"""Benchmarks made from other data sets."""
