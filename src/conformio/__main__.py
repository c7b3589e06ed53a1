"""`python -m conformio` is the command `conformio`."""

from conformio.cli import main

main()
