"""`taylorank completion`: the script that lets a shell complete commands and options."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal

from cyclopts import Parameter

Shell = Literal["bash", "zsh", "fish"]


def completion_of(app: Any) -> Callable[[Shell], None]:
    """Return the command for an app."""

    def completion(shell: Annotated[Shell, Parameter(help="The shell that you use.")], /) -> None:
        """Print the completion script of a shell.

        Example: taylorank completion bash >> ~/.bash_completion

        Example: taylorank completion fish > ~/.config/fish/completions/taylorank.fish
        """
        print(app.generate_completion(prog_name="taylorank", shell=shell))

    return completion
