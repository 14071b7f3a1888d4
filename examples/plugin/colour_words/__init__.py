"""One of each that groundfault takes from other packages: a model, a benchmark, a protocol, metric
families, a judge and an editor."""
