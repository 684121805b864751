"""python -m research.claims: see `research.claims.command`."""

from cyclopts import App

from research.claims.command import claims
from taylorank.cli.app import run_app

app = App(name="python -m research.claims", help_format="plaintext", suppress_keyboard_interrupt=False)
app.default(claims)

if __name__ == "__main__":
    run_app(app, program=app.name[0])
