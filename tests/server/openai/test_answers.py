"""An outcome as a message: what is said of it, and that nothing of a graph becomes markup."""

from dataclasses import replace

from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token
from pyoxigraph import Literal, NamedNode
from tests.each import for_each

from askgraph.server.openai.answers import (
    escape_markdown,
    format_code_block,
    format_link,
    format_message,
    format_table,
)
from askgraph.sparql.results import SelectResult, Truncation
from askgraph.trace import Answer, Clarification, ConfirmedQuestion, Evidence, Option, Refusal

IO = NamedNode("http://example.org/Io")
QUERY = "SELECT ?moon { ?moon a <http://example.org/Moon> }"
ANSWER = Answer(
    QUERY, "space", SelectResult(("moon",), ((IO,),)), ("moon",), "The moons.", 0.7,
    labels={IO.value: "Io"}, evidence=(Evidence(0, (), ("Io · is a · moon",)),),
)  # fmt: skip
EVIL = "](javascript:alert(1))<script>alert(1)</script>![x](https://evil.example/p.png)|\n# head"


def told(outcome: Answer | Clarification | Refusal) -> str:
    return "\n\n".join(format_message(outcome))


def test_how_answers_are_written() -> None:
    # One value stands alone and a link leads to it.
    text = told(ANSWER)
    assert text.startswith("**[Io](<http://example.org/Io>)**\n\n**Read as:** The moons.")
    assert "**Confidence:** fairly sure (0.70)" in text and f"```sparql\n{QUERY}\n```" in text
    assert "- row 1: Io · is a · moon" in text
    assert text.endswith("- row 1: Io · is a · moon")  # and no line that only Markdown hides
    # Many rows are a table of the first.
    rows = tuple((IO, Literal(str(at))) for at in range(30))
    cut = Truncation("server", "its row cap")
    text = told(replace(ANSWER, result=SelectResult(("moon", "its_size"), rows, cut)))
    assert "| moon | its size |\n| --- | --- |\n| [Io](<http://example.org/Io>) | 0 |" in text
    assert "| 19 |" in text and "| 20 |" not in text
    assert "… and 10 more rows." in text and "Cut off: its row cap" in text
    # Yes no and nothing are said.
    none = SelectResult(("moon",), ())
    assert told(replace(ANSWER, boolean=False, result=none)).startswith("**No**")
    empty = told(replace(ANSWER, result=none, why_empty="No moon has rings."))
    assert empty.startswith("Nothing was found.\n\nNo moon has rings.")
    # What there is to know besides is said.
    confirmed = ConfirmedQuestion("Which moons?", "2026-01-01")
    text = told(replace(ANSWER, confirmed=confirmed, cut_short="no time", interpretation="One."))
    assert "**Confirmed** as the answer to: Which moons?" in text and "\n\nOne.\n\n" in text
    assert "**Cut short:** no time; this is the best answer so far." in text
    # Readings are numbered.
    options = (Option("Io.", 1, QUERY), Option("All.", 2000, QUERY))
    text = told(Clarification("Which?", options, None))
    assert text.startswith("Which?\n\n1. Io. (1 row)\n2. All. (2,000 rows)")
    assert "Answer with a number" in text
    # A refusal shows the best attempt.
    assert told(Refusal("Not known.")) == "No answer. Not known."
    assert "The best attempt:\n\n**[Io]" in told(Refusal("Not known.", ANSWER))


def test_no_text_becomes_markup() -> None:
    # No text of a graph becomes markup.
    evil = replace(
        ANSWER,
        result=SelectResult(("moon", "size"), ((IO, Literal(EVIL)), (None, Literal("1")))),
        labels={IO.value: EVIL},
        words=EVIL,
        why_empty=EVIL,
        interpretation=EVIL,
        cut_short=EVIL,
        query=f"{QUERY} # ``` {EVIL}".replace("\n", " "),
        evidence=(Evidence(0, (), (EVIL,)),),
        confirmed=ConfirmedQuestion(EVIL, ""),
    )
    parsed = MarkdownIt("commonmark").enable("table").parse(told(evil))
    inner = [one for token in parsed for one in (token, *(token.children or ()))]
    kinds = {one.type for one in inner}
    links = {str(one.attrs["href"]) for one in inner if one.type == "link_open"}
    assert not kinds & {"html_inline", "html_block", "image", "heading_open"}
    assert links == {IO.value} and sum(one.type == "tr_open" for one in inner) == 3
    assert sum(one.type == "fence" for one in inner) == 1
    # Addresses in texts do not become links.
    assert escape_markdown("see https://evil.example or www.evil.example, me@evil.example") == (
        r"see https\://evil.example or www\.evil.example, me\@evil.example"
    )
    # Only addresses of the web are links.
    assert format_link("Io", "https://example.org/Io") == "[Io](<https://example.org/Io>)"
    assert format_link("Io", "javascript:alert(1)") == "Io"
    assert format_link("Io", "https://example.org/>(x)") == "Io"
    assert format_link("Io", "https://example.org/a|b") == "Io"
    [opened] = [
        one for one in tokens(format_link("a](b)", "https://e.org/")) if one.type == "link_open"
    ]
    assert opened.attrs == {"href": "https://e.org/"}


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
    kinds = {one.type for one in tokens(escape_markdown(text))}

    assert kinds <= {"paragraph_open", "paragraph_close", "inline", "text", "text_special"}
    assert read(escape_markdown(text)) == in_words(text)


@given(st.lists(st.lists(st.text(max_size=30), min_size=2, max_size=2), min_size=1, max_size=4))
def test_a_table_has_the_rows_it_was_made_of(rows: list[list[str]]) -> None:
    text = format_table(["a", "b"], [[escape_markdown(cell) for cell in row] for row in rows])

    kinds = [one.type for one in tokens(text)]

    assert kinds.count("tr_open") == len(rows) + 1 and kinds.count("td_open") == 2 * len(rows)


@given(st.text(alphabet="`~\n SELECT{}?x", max_size=60))
def test_nothing_ends_a_block_of_code_but_its_end(code: str) -> None:
    fences = [one for one in tokens(format_code_block(code, "sparql")) if one.type == "fence"]

    assert [one.content.rstrip() for one in fences] == [code.rstrip()]
    assert fences[0].info == "sparql"


@for_each("length", [199, 200, 201, 5000])
def test_long_texts_are_clipped(length: int) -> None:
    assert len(escape_markdown("x" * length)) == min(length, 200)
