"""python -m research.bench NAME: see `research.bench.command`."""

from research.bench.command import PROGRAM
from research.bench.command import app as commands
from taylorank.cli.app import run_app

app = commands.meta

if __name__ == "__main__":
    run_app(app, program=PROGRAM)
