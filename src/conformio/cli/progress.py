"""What commands say on stderr while they work: a bar, and warnings in one line each."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

from rich.console import Console
from rich.progress import Progress

__all__ = ["Step", "shown_progress"]

Step: TypeAlias = Callable[[str, float], None]


@contextmanager
def shown_progress(quiet: bool) -> Iterator[Step]:
    """A bar that is told the name of each step and the share of the work that is done; gone at the end."""
    console = Console(stderr=True)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        try:
            with Progress(console=console, transient=True, disable=quiet) as bar:
                task = bar.add_task("starting", total=1.0)
                yield lambda name, share: bar.update(task, description=name, completed=share)
        finally:
            for text in dict.fromkeys(str(entry.message) for entry in caught):
                console.print(f"conformio: warning: {text}", markup=False, highlight=False, soft_wrap=True)
