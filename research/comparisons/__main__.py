"""python -m research.comparisons: see `research.comparisons.command`."""

from research.comparisons.command import app
from taylorank.cli.app import run_app

if __name__ == "__main__":
    run_app(app, program=app.name[0])
