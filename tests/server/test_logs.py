"""Secrets are taken out of texts and values, and nothing else is."""

import json

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.each import for_each

from askgraph.server.telemetry import MASK, mask_text, mask_value, remove_secrets

KEY = "askgraph_Zm9vYmFyYmF6cXV4Zm9v"


@for_each(
    "text",
    "Authorization: Bearer s3cr3tvalue",
    "authorization: Basic dXNlcjpzM2NyM3R2YWx1ZQ==",
    '{"Authorization": "Bearer s3cr3tvalue"}',
    '"headers: {\\"Authorization\\": \\"Bearer s3cr3tvalue\\"}"',
    "X-API-Key: s3cr3tvalue",
    "Cookie: askgraph_visitor=s3cr3tvalue; other=1",
    "Set-Cookie: session=s3cr3tvalue; HttpOnly",
    "postgresql://askgraph:s3cr3tvalue@db/askgraph",
    "https://s3cr3tvalue@example.org/sparql",
    "GET /sparql?query=x&api_key=s3cr3tvalue HTTP/1.1",
    "https://example.org/sparql?apikey=s3cr3tvalue&query=1",
    "https://example.org/?access_token=s3cr3tvalue",
    '{"password": "s3cr3tvalue"}',
    '{"openai_api_key": "s3cr3t\\"value"}',
    "{'client_secret': 's3cr3tvalue'}",
    '"{\\"password\\": \\"s3cr3tvalue\\"}"',
    "OPENAI_API_KEY=s3cr3tvalue",
    "password = s3cr3tvalue",
    "got bearer s3cr3t_value_1",
)
def test_a_secret_is_masked_wherever_it_stands(text: str) -> None:
    for around in ("", "x" * 100 + "\n", "İ ſ K\n" * 30):
        found = mask_text(around + text)

        assert "s3cr3t" not in found and MASK in found


def test_what_is_masked() -> None:
    # A secret is masked in capitals and letters that count as them.
    assert mask_text("OPENAI_API_KEY=s3cr3tvalue") == f"OPENAI_API_KEY={MASK}"
    assert mask_text("api_\u212aey=s3cr3tvalue") == f"api_\u212aey={MASK}"
    assert mask_text("pa\u017fsword=s3cr3tvalue") == f"pa\u017fsword={MASK}"
    # Secrets that are known are masked as such.
    assert mask_text("the reply repeats hunter2hunter2", ["hunter2hunter2"]).endswith(MASK)
    # Values are masked by the names of their fields.
    value = {"a": [{"password": "p", "n": 1, "api_key": None}], "Cookie": "x=1", "text": f"k {KEY}"}
    assert mask_value(value) == {
        "a": [{"password": MASK, "n": 1, "api_key": None}],
        "Cookie": MASK,
        "text": f"k askgraph_{MASK}",
    }
    # Of data only the secrets themselves are taken out.
    rows = {"words": "password=hunter2hunter2", "rows": [["the-key", 3, None], ["sk-" + "a" * 30]]}
    assert remove_secrets(rows, ("the-key",)) == {
        **rows,
        "rows": [["***", 3, None], ["sk-" + "a" * 30]],
    }


@for_each(
    "key",
    KEY,
    "sk-proj-abcdefghijklmnopqrstuvwx",
    "ghp_abcdefghijklmnopqrstuvwxyz0123",
    "hf_abcdefghijklmnopqrstuvwxyz",
    "AIzaSyA-abcdefghijklmnopqrstuvwxyz012345",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc-def_ghi",
)
def test_a_key_is_known_by_how_it_begins(key: str) -> None:
    assert key not in mask_text(f"the server said: {key} is no key")


@for_each(
    "text",
    "What is the basic structure of a bearer bond?",
    "SELECT ?token { ?x <http://example.org/token> ?token FILTER(?token = ?other) }",
    "SELECT ?s { ?s ?p ?signature FILTER(?signature=<http://example.org/x>) }",
    "http://example.org/a@b and https://example.org/?q=tokens",
    "Which token of the key was minted in 2001?",
    '{"tokens": 120, "keyword": "secretary"}',
    "https://w3id.org/sec#key",
)
def test_other_texts_stay_as_they_are(text: str) -> None:
    assert mask_text(text) == text


_PIECES = st.sampled_from(
    ["Authorization: ", "Bearer abc123456", "cookie=", '"', "\\", "'", "password", ": ", "=", "://",
     "u:p@h", "?token=", "&", KEY, "\n", "x", "{", "}", '\\"password\\": \\"x\\"'],
)  # fmt: skip
_TEXT = st.lists(_PIECES, max_size=6).map("".join)
_VALUES = _TEXT | st.dictionaries(
    _TEXT, _TEXT | st.lists(_TEXT, max_size=2) | st.none(), max_size=3
)


@settings(max_examples=50, deadline=None)
@given(_VALUES)
def test_no_key_stays_and_masking_twice_changes_nothing(value: object) -> None:
    found = mask_value(value)
    assert KEY not in json.dumps(found) and mask_value(found) == found
