"""Editors change an image inside a region. None ships yet; those of other packages are listed,
loaded and held to their contract (`contract`)."""
