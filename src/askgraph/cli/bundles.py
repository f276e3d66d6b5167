"""Bundles of options: dataclasses that a command takes as one parameter each."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Self, TypeVar, get_type_hints

import typer

Command = TypeVar("Command", bound=Callable[..., None])


@dataclass(frozen=True)
class Bundle:
    """Options that several commands share, as the fields of a dataclass.

    A command takes a bundle as one parameter; its options are among those of the command, behind
    all others if it is a `last` one.
    """

    last: ClassVar[bool] = False

    @classmethod
    def of(cls, ctx: typer.Context, given: Mapping[str, Any]) -> Self:
        """Return the bundle with the values that were given."""
        return cls(**given)


class Commands(typer.Typer):
    """A group of commands that may take bundles."""

    def __init__(self) -> None:
        super().__init__(no_args_is_help=True, rich_markup_mode=None)

    def command(self, name: str | None = None, **settings: Any) -> Callable[[Command], Command]:
        """Register a function as a command of this name."""

        def registered(function: Command) -> Command:
            super(Commands, self).command(name, **settings)(expanded(function))
            return function

        return registered


def expanded(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command that has the options of its bundles in place of these."""
    given = inspect.signature(command, eval_str=True).parameters
    bundles = {
        name: one.annotation
        for name, one in given.items()
        if isinstance(one.annotation, type) and issubclass(one.annotation, Bundle)
    }
    if not bundles:
        return command

    def called(ctx: typer.Context, **values: Any) -> None:
        for name, bundle in bundles.items():
            own = {field.name: values.pop(field.name) for field in fields(bundle)}
            values[name] = bundle.of(ctx, own)
        command(**values)

    order = sorted(given.values(), key=lambda one: one.name in bundles and bundles[one.name].last)
    options = [
        inspect.Parameter("ctx", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context),
        *(option for one in order for option in _options(one, bundles)),
    ]
    called.__doc__ = command.__doc__
    called.__annotations__ = {one.name: one.annotation for one in options}
    called.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]
    return called


def _options(
    one: inspect.Parameter, bundles: Mapping[str, type[Bundle]]
) -> list[inspect.Parameter]:
    """The options of a bundle, or the parameter itself."""
    if one.name not in bundles:
        return [one.replace(kind=inspect.Parameter.KEYWORD_ONLY)]
    bundle = bundles[one.name]
    kinds = get_type_hints(bundle, include_extras=True)
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=field.default,
            annotation=kinds[field.name],
        )
        for field in fields(bundle)
    ]
