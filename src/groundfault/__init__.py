"""groundfault: does a vision model ground what it was asked for, or what it expected to see?"""

__version__ = "0.1.0"

__all__ = ["__version__"]
