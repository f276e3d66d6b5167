"""Whatever a graph says, it stays text within Markdown."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from askgraph.serve.protocols.openai.answers import code_block, link, plain, table

_PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def tokens(text: str) -> list[Token]:
    """All that Markdown makes of a text, the inner parts too."""
    outer = _PARSER.parse(text)
    return [one for token in outer for one in (token, *(token.children or ()))]


def read(text: str) -> str:
    """The text that a reader sees of a paragraph."""
    parts = [one for one in tokens(text) if one.type in ("text", "text_special")]
    return "".join(one.content for one in parts)


def in_words(text: str) -> str:
    return " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())


@given(st.text(max_size=100))
@example("[click](javascript:alert(1))")
@example("![x](https://evil.example/pixel.png)")
@example("<img src=x onerror=alert(1)>")
@example("a | b\n| --- | --- |")
@example("**bold** _and_ `code` ~~gone~~ $x^2$")
@example("1. one\n2. two")
@example("- list\n# heading\n> quote")
@example("&lt;b&gt; \\")
@example("---")
@example("[askgraph]: # (01234567)")
def test_a_text_is_read_as_it_is(text: str) -> None:
    kinds = {one.type for one in tokens(plain(text))}

    assert kinds <= {"paragraph_open", "paragraph_close", "inline", "text", "text_special"}
    assert read(plain(text)) == in_words(text)


@given(st.lists(st.lists(st.text(max_size=30), min_size=2, max_size=2), min_size=1, max_size=4))
def test_a_table_has_the_rows_it_was_made_of(rows: list[list[str]]) -> None:
    text = table(["a", "b"], [[plain(cell) for cell in row] for row in rows])

    kinds = [one.type for one in tokens(text)]

    assert kinds.count("tr_open") == len(rows) + 1
    assert kinds.count("td_open") == 2 * len(rows)


@given(st.text(alphabet="`~\n SELECT{}?x", max_size=60))
def test_nothing_ends_a_block_of_code_but_its_end(code: str) -> None:
    fences = [one for one in tokens(code_block(code, "sparql")) if one.type == "fence"]

    assert [one.content.rstrip() for one in fences] == [code.rstrip()]
    assert fences[0].info == "sparql"


def test_addresses_in_texts_do_not_become_links() -> None:
    assert plain("see https://evil.example or www.evil.example, me@evil.example") == (
        r"see https\://evil.example or www\.evil.example, me\@evil.example"
    )


def test_only_addresses_of_the_web_are_links() -> None:
    assert link("Io", "https://example.org/Io") == "[Io](<https://example.org/Io>)"
    assert link("Io", "javascript:alert(1)") == "Io"
    assert link("Io", "https://example.org/>(x)") == "Io"
    assert link("Io", "https://example.org/a|b") == "Io"
    [opened] = [one for one in tokens(link("a](b)", "https://e.org/")) if one.type == "link_open"]
    assert opened.attrs == {"href": "https://e.org/"}


@pytest.mark.parametrize("length", [199, 200, 201, 5000])
def test_long_texts_are_clipped(length: int) -> None:
    assert len(plain("x" * length)) == min(length, 200)
