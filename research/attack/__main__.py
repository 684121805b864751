"""python -m research.attack: see `research.attack.command`."""

from research.attack.command import PROGRAM, app
from taylorank.cli.app import run_app

if __name__ == "__main__":
    run_app(app, program=PROGRAM)
