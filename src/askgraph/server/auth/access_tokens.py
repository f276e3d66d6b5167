"""OAuth 2.1: access tokens of one issuer, and the metadata of this server as a protected resource.

A token is a JWT (RFC 9068), checked against the keys that the issuer publishes: its signature,
issuer, audience, expiry and scopes. Clients find the issuer in the metadata (RFC 9728).
"""

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import httpx2
import jwt

from askgraph.errors import ServiceError, SetupError
from askgraph.server.auth import SCOPES, NotAllowedError, Scope

METADATA_PATH = "/.well-known/oauth-protected-resource"
_ALGORITHMS = [
    *(f"{kind}{bits}" for kind in ("RS", "PS", "ES") for bits in (256, 384, 512)),
    "EdDSA",
]
_TOKEN_SCOPES: tuple[Scope, ...] = tuple(scope for scope in SCOPES if scope != "admin")
_SCOPE_PREFIX = "askgraph:"  # issuers may need names of their own for each server
_DISCOVERY_PATHS = ("/.well-known/openid-configuration", "/.well-known/oauth-authorization-server")
_TIMEOUT_SECONDS = 10.0
_KEY_LIFETIME_SECONDS, _MIN_REFETCH_SECONDS = 600.0, 30.0
_LEEWAY_SECONDS = 30.0
_MAX_NAME_CHARACTERS = 200


@dataclass(frozen=True)
class AccessToken:
    """The subject of a valid token, their name and their scopes."""

    subject: str
    name: str
    scopes: frozenset[Scope]


class AccessTokenVerifier:
    """Verifies the access tokens of an issuer for one resource; keeps the issuer's keys.

    Args:
        issuer: the URL of the authorization server, as in its tokens.
        resource: the URL of this server that tokens name as their audience.

    Raises:
        SetupError: a URL is not https, nor of this machine.
    """

    def __init__(
        self, issuer: str, resource: str, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        for name, url in (("oauth_issuer", issuer), ("oauth_resource", resource)):
            parts = urlsplit(url)
            is_local = parts.scheme == "http" and parts.hostname in ("127.0.0.1", "localhost")
            if not (parts.scheme == "https" and parts.hostname) and not is_local:
                raise SetupError(f"{name} must be an https URL, not {url!r}")
        self._issuer, self._resource, self._clock = issuer, resource, clock
        self._keys: Mapping[str, jwt.PyJWK] = {}
        self._fetch_time = -_KEY_LIFETIME_SECONDS
        self._lock = asyncio.Lock()

    async def verify(self, token: str) -> AccessToken:
        """Return the content of a token.

        Raises:
            NotAllowedError: the token is not valid (401).
            ServiceError: the issuer's keys cannot be fetched.
        """
        try:
            claims = jwt.decode(
                token,
                await self._find_key(str(jwt.get_unverified_header(token).get("kid", ""))),
                algorithms=_ALGORITHMS,
                audience=self._resource,
                issuer=self._issuer,
                leeway=_LEEWAY_SECONDS,
                options={"require": ["exp", "iss", "aud", "sub"]},
            )
        except jwt.PyJWTError as error:
            raise NotAllowedError(f"the access token is not valid: {error}", status=401) from error
        subject = str(claims["sub"])
        if not subject.isprintable() or not 0 < len(subject) <= _MAX_NAME_CHARACTERS:
            raise NotAllowedError("the access token has no usable subject", status=401)
        name = str(claims.get("name") or claims.get("preferred_username") or subject)
        return AccessToken(subject, name[:_MAX_NAME_CHARACTERS], _read_scopes(claims))

    async def _find_key(self, key_id: str) -> jwt.PyJWK:
        """Return a key of the issuer; an unknown one is looked up again, not too often."""
        async with self._lock:
            age = self._clock() - self._fetch_time
            is_old = age >= _KEY_LIFETIME_SECONDS
            if is_old or (key_id not in self._keys and age >= _MIN_REFETCH_SECONDS):
                self._keys = await self._fetch_keys()
                self._fetch_time = self._clock()
        if key_id not in self._keys:
            raise jwt.InvalidKeyError("the issuer has no key of this id")
        return self._keys[key_id]

    async def _fetch_keys(self) -> dict[str, jwt.PyJWK]:
        try:
            async with httpx2.AsyncClient(timeout=_TIMEOUT_SECONDS) as client:
                for url in _list_discovery_urls(self._issuer):
                    reply = await client.get(url)
                    if reply.is_success:
                        break
                metadata = reply.raise_for_status().json()
                if metadata["issuer"] != self._issuer:
                    raise ServiceError(f"{url} describes another issuer: {metadata['issuer']!r}")
                keys = (await client.get(metadata["jwks_uri"])).raise_for_status().json()["keys"]
            usable = (key for key in keys if key.get("kty") != "oct")  # no shared secrets
            return {str(key.get("kid", "")): jwt.PyJWK(key) for key in usable}
        except (httpx2.HTTPError, ValueError, KeyError, TypeError, jwt.PyJWTError) as error:
            raise ServiceError(
                f"the keys of {self._issuer!r} cannot be fetched to check the token: {error!r}"
            ) from error


def _list_discovery_urls(issuer: str) -> list[str]:
    """Return where an issuer may describe itself (OpenID Connect Discovery, RFC 8414)."""
    parts = urlsplit(issuer)
    path = parts.path.rstrip("/")
    origin = f"{parts.scheme}://{parts.netloc}"
    return [
        f"{origin}{path}{_DISCOVERY_PATHS[0]}",
        *(f"{origin}{p}{path}" for p in _DISCOVERY_PATHS),
    ]


def _read_scopes(claims: Mapping[str, Any]) -> frozenset[Scope]:
    """Return our scopes in a token; a token never makes an administrator."""
    claim = claims.get("scope", claims.get("scp", ""))
    names = claim.split() if isinstance(claim, str) else map(str, claim or ())
    scopes = {name.removeprefix(_SCOPE_PREFIX) for name in names}
    return frozenset(scope for scope in _TOKEN_SCOPES if scope in scopes)


def build_resource_metadata(issuer: str, resource: str) -> dict[str, object]:
    """Return the metadata of this server as a protected resource (RFC 9728)."""
    return {
        "resource": resource,
        "authorization_servers": [issuer],
        "scopes_supported": list(_TOKEN_SCOPES),
        "bearer_methods_supported": ["header"],
        "resource_name": "askgraph",
    }


def build_challenge(resource: str, error: NotAllowedError, *, has_token: bool) -> str:
    """Return the WWW-Authenticate header of a refusal: the missing part and its source."""
    parts = urlsplit(resource)
    url = f"{parts.scheme}://{parts.netloc}{METADATA_PATH}{parts.path.rstrip('/')}"
    code = "insufficient_scope" if error.status == 403 else "invalid_token" if has_token else ""
    fields = {"realm": "askgraph", "error": code, "scope": "ask query", "resource_metadata": url}
    return "Bearer " + ", ".join(f'{name}="{text}"' for name, text in fields.items() if text)
