"""An outcome as a message: what is said of it, and that nothing of a graph becomes markup."""

from dataclasses import replace

from markdown_it import MarkdownIt
from pyoxigraph import Literal, NamedNode

from askgraph.serve.protocols.openai.answers import message_parts
from askgraph.sparql.results import SelectResult, Truncation
from askgraph.trace import Answer, Clarification, Confirmed, Evidence, Option, Refusal

IO = NamedNode("http://example.org/Io")
QUERY = "SELECT ?moon { ?moon a <http://example.org/Moon> }"
ANSWER = Answer(
    QUERY,
    "space",
    SelectResult(("moon",), ((IO,),)),
    ("moon",),
    "The moons.",
    0.7,
    labels={IO.value: "Io"},
    evidence=(Evidence(0, (), ("Io · is a · moon",)),),
)
RUN = "0123456789"
EVIL = "](javascript:alert(1))<script>alert(1)</script>![x](https://evil.example/p.png)|\n# head"


def told(outcome: Answer | Clarification | Refusal) -> str:
    return "\n\n".join(message_parts(outcome, RUN))


def test_one_value_stands_alone_and_a_link_leads_to_it() -> None:
    text = told(ANSWER)

    assert text.startswith("**[Io](<http://example.org/Io>)**\n\n**Read as:** The moons.")
    assert "**Confidence:** fairly sure (0.70)" in text
    assert f"```sparql\n{QUERY}\n```" in text
    assert "- row 1: Io · is a · moon" in text
    assert text.endswith("[askgraph]: # (0123456789)")


def test_many_rows_are_a_table_of_the_first() -> None:
    rows = tuple((IO, Literal(str(at))) for at in range(30))
    cut = Truncation("server", "its row cap")

    text = told(replace(ANSWER, result=SelectResult(("moon", "its_size"), rows, cut)))

    assert "| moon | its size |\n| --- | --- |\n| [Io](<http://example.org/Io>) | 0 |" in text
    assert "| 19 |" in text and "| 20 |" not in text
    assert "… and 10 more rows." in text and "Cut off: its row cap" in text


def test_yes_no_and_nothing_are_said() -> None:
    none = SelectResult(("moon",), ())
    assert told(replace(ANSWER, boolean=False, result=none)).startswith("**No**")
    empty = told(replace(ANSWER, result=none, why_empty="No moon has rings."))
    assert empty.startswith("Nothing was found.\n\nNo moon has rings.")


def test_what_there_is_to_know_besides_is_said() -> None:
    confirmed = Confirmed("Which moons?", "2026-01-01")
    text = told(replace(ANSWER, confirmed=confirmed, cut_short="no time", interpretation="One."))

    assert "**Confirmed** as the answer to: Which moons?" in text
    assert "**Cut short:** no time; this is the best so far." in text
    assert "\n\nOne.\n\n" in text


def test_readings_are_numbered() -> None:
    options = (Option("Io.", 1, QUERY), Option("All.", 2000, QUERY))

    text = told(Clarification("Which?", options, None))

    assert text.startswith("Which?\n\n1. Io. (1 row)\n2. All. (2,000 rows)")
    assert "Answer with a number" in text


def test_a_refusal_shows_the_best_attempt() -> None:
    assert told(Refusal("Not known.")).startswith("No answer. Not known.\n\n[askgraph]")
    assert "The best attempt:\n\n**[Io]" in told(Refusal("Not known.", ANSWER))


def test_no_text_of_a_graph_becomes_markup() -> None:
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
        confirmed=Confirmed(EVIL, ""),
    )

    parsed = MarkdownIt("commonmark").enable("table").parse(told(evil))

    inner = [one for token in parsed for one in (token, *(token.children or ()))]
    kinds = {one.type for one in inner}
    links = {str(one.attrs["href"]) for one in inner if one.type == "link_open"}
    assert not kinds & {"html_inline", "html_block", "image", "heading_open"}
    assert links == {IO.value}
    assert sum(one.type == "tr_open" for one in inner) == 3
    assert sum(one.type == "fence" for one in inner) == 1
