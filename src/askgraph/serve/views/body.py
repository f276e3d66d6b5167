"""What the body of every request is checked for, whatever else it holds."""

from pydantic import BaseModel, ConfigDict, field_validator

__all__ = ["Body"]


class Body(BaseModel):
    """A request's body: it has no fields that are not known, and no text with a NUL (U+0000).

    PostgreSQL keeps no such text, and no graph has a term with one.
    """

    model_config = ConfigDict(extra="forbid")

    @field_validator("*")
    @classmethod
    def _without_nul(cls, value: object) -> object:
        if _holds_nul(value):
            raise ValueError("holds a NUL (U+0000), which no text here may: leave it out")
        return value


def _holds_nul(value: object) -> bool:
    match value:
        case str():
            return "\0" in value
        case list():
            return any(map(_holds_nul, value))
        case dict():
            return any(_holds_nul(key) or _holds_nul(item) for key, item in value.items())
        case _:
            return False
