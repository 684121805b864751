"""`python -m taylorank`: the command line."""

from taylorank.cli import main

main()
