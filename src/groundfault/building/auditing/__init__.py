"""Photographs of one's own made ready for an audit: taken in, changed, edited; phrases proposed."""
