"""The nano segmenters: how they are made. `groundfault.models.nano` runs them."""
