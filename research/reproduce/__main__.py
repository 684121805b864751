"""python -m research.reproduce: see `research.reproduce.command`."""

from cyclopts import App

from research.reproduce.command import reproduce
from taylorank.cli.app import run_app

app = App(name="python -m research.reproduce", help_format="plaintext", suppress_keyboard_interrupt=False)
app.default(reproduce)

if __name__ == "__main__":
    run_app(app, program=app.name[0])
