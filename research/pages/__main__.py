"""python -m research.pages: see `research.pages.command`."""

from cyclopts import App

from research.pages.command import pages
from taylorank.cli.app import run_app

app = App(name="python -m research.pages", help_format="plaintext", suppress_keyboard_interrupt=False)
app.default(pages)

if __name__ == "__main__":
    run_app(app, program=app.name[0])
