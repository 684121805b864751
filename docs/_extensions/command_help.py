"""`.. command-help::`: every command with its own help, as a terminal of 84 columns shows it."""

from __future__ import annotations

import io
from typing import Any

from docutils import nodes
from rich.console import Console
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from taylorank.cli.app import app as commands

COLUMNS = 84


class CommandHelp(SphinxDirective):
    """A section for each command, those within a command included."""

    def run(self) -> list[nodes.Node]:
        """Return the sections."""
        return [self._section(words) for words in [(), *all_commands(commands)]]

    def _section(self, words: tuple[str, ...]) -> nodes.section:
        title = " ".join(("taylorank", *words))
        section = nodes.section(ids=[nodes.make_id(title)])
        self.state.document.note_explicit_target(section)
        text = help_of(words)
        block = nodes.literal_block(text, text, language="text", classes=["command-help"])
        section += [nodes.title("", "", nodes.literal("", title)), block]
        return section


def all_commands(app: Any, before: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """Return the words of every command, in the order of the alphabet."""
    found = []
    for name in sorted(one for one in app if not one.startswith("-")):
        found += [(*before, name), *all_commands(app[name], (*before, name))]
    return found


def help_of(words: tuple[str, ...]) -> str:
    """Return what `taylorank WORDS --help` prints."""
    out = io.StringIO()
    commands.help_print(list(words), console=Console(file=out, width=COLUMNS, force_terminal=False, color_system=None))
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()).strip()


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx."""
    app.add_directive("command-help", CommandHelp)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
