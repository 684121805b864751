"""python -m research.datasets: see `research.datasets.thesaurus_sample`."""

from research.datasets.thesaurus_sample import app
from taylorank.cli.app import run_app

if __name__ == "__main__":
    run_app(app, program=app.name[0])
