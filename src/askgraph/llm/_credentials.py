"""The key of a language model: settings name the environment variable, never the key."""

import os
from dataclasses import dataclass, field

from askgraph.errors import SetupError

__all__ = ["Key"]


@dataclass(frozen=True)
class Key:
    """A key that no repr shows; empty where the server wants none."""

    value: str = field(default="", repr=False)

    @classmethod
    def of(cls, variable: str | None) -> "Key":
        """Read the environment variable; `SetupError` where it is not set or breaks a header."""
        if variable is None:
            return cls()
        value = os.environ.get(variable, "").strip()
        if not value:
            raise SetupError(
                f"the environment variable {variable} (setting `key_env`) is not set: put the"
                " server's key there, or leave the setting out for a server without keys"
            )
        if not value.isascii() or not value.isprintable():
            raise SetupError(f"the environment variable {variable} holds no key: odd characters")
        return cls(value)

    def scrubbed(self, text: str) -> str:
        """Return a text without the key, as a server may send it back in an error."""
        return text.replace(self.value, "***") if self.value else text
