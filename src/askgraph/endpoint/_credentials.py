"""Credentials of an endpoint: settings name the environment variables, never the secrets."""

import base64
import os
from dataclasses import dataclass, field

from askgraph.errors import SetupError

__all__ = ["Credentials"]


@dataclass(frozen=True)
class Credentials:
    """The header that authenticates, and the secrets that must never be shown."""

    headers: dict[str, str] = field(default_factory=dict, repr=False)
    secrets: tuple[str, ...] = field(default=(), repr=False)

    @classmethod
    def of(
        cls,
        auth: str,
        *,
        user_env: str | None = None,
        password_env: str | None = None,
        token_env: str | None = None,
        header: str | None = None,
        header_env: str | None = None,
    ) -> "Credentials":
        """Read the variables that `auth` (none, basic, bearer, header) needs; else `SetupError`."""
        match auth:
            case "none":
                return cls()
            case "basic":
                user = _variable("user_env", user_env)
                password = _variable("password_env", password_env)
                token = base64.b64encode(f"{user}:{password}".encode()).decode()
                return cls({"Authorization": f"Basic {token}"}, (password, token))
            case "bearer":
                token = _variable("token_env", token_env)
                return cls({"Authorization": f"Bearer {token}"}, (token,))
            case "header":
                if not header:
                    raise SetupError("auth 'header' needs the setting `header`, the header's name")
                value = _variable("header_env", header_env)
                return cls({header: value}, (value,))
            case _:
                raise SetupError(f"auth is {auth!r}; it may be none, basic, bearer or header")

    def scrubbed(self, text: str) -> str:
        """Return a text without the secrets, as a server may send them back in an error."""
        for secret in self.secrets:
            if secret:
                text = text.replace(secret, "***")
        return text


def _variable(setting: str, name: str | None) -> str:
    if not name:
        raise SetupError(f"the setting `{setting}` must name an environment variable")
    value = os.environ.get(name)
    if not value:
        raise SetupError(f"the environment variable {name} (setting `{setting}`) is not set")
    if "\n" in value or "\r" in value:
        raise SetupError(f"the environment variable {name} holds a line break")
    return value
