"""Editors change an image inside a region: ours, and those of other packages, all held to their
contract (`contract`)."""
