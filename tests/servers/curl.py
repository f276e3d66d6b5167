"""What a `curl` command of our docs asks, sent by a client of the tests."""

import shlex
from itertools import pairwise

import httpx2

__all__ = ["send_curl"]


def send_curl(client: httpx2.Client, command: str, address: str) -> httpx2.Response:
    """Send what a command asks of a server at an address."""
    words = shlex.split(command)
    given: dict[str, list[str]] = {"-H": [], "-d": [], "--data-urlencode": [], "-X": []}
    for option, value in pairwise(words):
        if option in given:
            given[option].append(value)
    path = next(word for word in words if word.startswith(address)).removeprefix(address)
    fields = dict(one.split("=", 1) for one in given["--data-urlencode"])
    in_address = "-G" in words
    posts = given["-d"] or (fields and not in_address)
    return client.request(
        given["-X"][0] if given["-X"] else "POST" if posts else "GET",
        path,
        headers=dict(one.split(": ", 1) for one in given["-H"]),
        content=given["-d"][0] if given["-d"] else None,
        data=fields if fields and not in_address else None,
        params=fields if in_address else None,
    )
