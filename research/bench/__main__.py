"""python -m research.bench: see `research.bench.command`."""

from cyclopts import App

from research.bench.command import bench
from taylorank.cli.main import run_app

app = App(name="python -m research.bench", help_format="plaintext", suppress_keyboard_interrupt=False)
app.default(bench)

if __name__ == "__main__":
    run_app(app)
