"""Options in groups: a command takes dataclasses, the command line shows their fields.

    @dataclass(frozen=True)
    class Printing:
        as_json: Annotated[bool, typer.Option("--json")] = False

    @with_groups
    def fit(data: Data, printing: Printing) -> None: ...

Options that several commands share are written once, and come as one value.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from functools import wraps
from inspect import Parameter
from typing import Any, get_type_hints

__all__ = ["with_groups"]


def with_groups(command: Callable[..., None]) -> Callable[..., None]:
    """The command with each parameter whose type is a dataclass replaced by the fields of that class."""
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: hint for name, hint in hints.items() if is_dataclass(hint)}
    signature = inspect.signature(command)
    shown = [part for name, one in signature.parameters.items() for part in _parts(one, hints[name])]

    @wraps(command)
    def called(**values: Any) -> None:
        built = {name: group(**{f.name: values.pop(f.name) for f in fields(group)}) for name, group in groups.items()}
        command(**values, **built)

    called.__signature__ = signature.replace(parameters=shown)  # type: ignore[attr-defined]
    called.__annotations__ = {one.name: one.annotation for one in shown} | {"return": None}
    return called


def _parts(parameter: Parameter, hint: Any) -> list[Parameter]:
    if not is_dataclass(hint):
        return [Parameter(parameter.name, Parameter.KEYWORD_ONLY, default=parameter.default, annotation=hint)]
    hints = get_type_hints(hint, include_extras=True)
    return [
        Parameter(
            field.name,
            Parameter.KEYWORD_ONLY,
            default=Parameter.empty if field.default is MISSING else field.default,
            annotation=hints[field.name],
        )
        for field in fields(hint)
    ]
