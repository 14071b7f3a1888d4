"""`python -m groundfault.cli`."""

from groundfault.cli import main

main()
