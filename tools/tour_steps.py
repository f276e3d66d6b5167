"""The steps of the tour: what each does on the page, and what it must see there then.

A step is a line of data: a name, a caption, and actions in a row, of which each is one function
here. To add one, write it where it belongs in `STEPS`.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from playwright.sync_api import Page, expect
from tests.server.browser.watched import ask, settle

__all__ = ["STEPS", "Step"]

Action = Callable[[Page], None]
Role = Literal["button", "checkbox", "link", "searchbox", "tab", "textbox"]


@dataclass(frozen=True)
class Step:
    """One picture of the tour, by a browser that opens `path` and takes the actions in a row."""

    name: str
    says: str
    does: Sequence[Action]
    path: str = "/"
    locale: str = "en-GB"
    dark: bool = False
    phone: bool = False
    allows: Sequence[str] = ()
    """What the console may say, being what the step is about."""


def asks(*questions: str) -> Action:
    """Ask questions, one after another in one conversation."""

    def act(page: Page) -> None:
        page.locator("button.starter").first.wait_for()  # whose request would be left
        for question in questions:
            ask(page, question)
            settle(page)

    return act


def press(role: Role, name: str, *, within: str = "body", exact: bool = False) -> Action:
    """Press the first thing of a role and name."""
    return lambda page: page.locator(within).get_by_role(role, name=name, exact=exact).first.click()


def fold(name: str) -> Action:
    """Open what is folded away below a title."""
    return lambda page: page.locator("summary").filter(has_text=name).first.click()


def write(label: str, text: str) -> Action:
    """Write into the field of a label."""
    return lambda page: page.get_by_label(label).first.fill(text)


def types(text: str) -> Action:
    """Type where the keyboard is."""
    return lambda page: page.keyboard.type(text)


def keys(*names: str) -> Action:
    """Press keys, one after another."""

    def act(page: Page) -> None:
        for name in names:
            page.keyboard.press(name)

    return act


def hover(found: str) -> Action:
    """Point at the first thing of a selector."""
    return lambda page: page.locator(found).first.hover()


def reload(page: Page) -> None:
    """Load the page anew."""
    page.reload()


def saves(name: str, ending: str) -> Action:
    """Press a button that saves a file."""

    def act(page: Page) -> None:
        with page.expect_download() as begun:
            page.get_by_role("button", name=name, exact=True).first.click()
        assert begun.value.suggested_filename.endswith(ending), begun.value.suggested_filename
        assert Path(begun.value.path()).stat().st_size > 0, f"{name}: an empty file"

    return act


def sees(found: str, text: str = "", *, count: int | None = None) -> Action:
    """Expect something of a selector, with a text (a regular expression) or so many of it."""

    def act(page: Page) -> None:
        every = page.locator(found).filter(has_text=re.compile(text))
        if count is None:
            expect(every.first).to_be_visible()
        else:
            expect(every).to_have_count(count)

    return act


ROCKETS = "Show me all rockets with their heights."
MOONS = "How many moons are listed for each planet?"
LARGER = "Which moons are larger than Mercury?"
OF_MARS = "Which moons orbit Mars?"

STEPS = (
    Step("first-view", "The page opens with a box to ask in.", [sees("button.starter")]),
    Step(
        "starters",
        "A question to start with is asked by a press.",
        [press("button", "", within=".starters"), sees(".headline")],
    ),
    Step(
        "completion",
        "Names of the graph complete what is typed.",
        [types("Which moons orbit Jup"), sees(".suggestion", "Jupiter")],
    ),
    Step(
        "sentence",
        "The answer is a sentence with the values that decided.",
        [asks(LARGER), sees(".headline", r"Ganymede \(5,268.* km\)")],
    ),
    Step(
        "value",
        "A value comes with its unit, its reading and how sure it is.",
        [asks("How big is Titan?"), sees(".headline", "5,149.5 km"), sees(".confidence", "ure")],
    ),
    Step(
        "yes",
        "Yes or no comes with the reason.",
        [asks("Is Ganymede bigger than Titan?"), sees(".headline", "^Yes")],
    ),
    Step(
        "bars",
        "Numbers of things open as bars, the largest first: twenty, and the rest on demand.",
        [asks(ROCKETS), sees(".marks .bar", count=20)],
    ),
    Step(
        "bars-more",
        "The drawing grows by a press.",
        [asks(ROCKETS), press("button", "Show 34"), sees(".marks .bar", count=34)],
    ),
    Step(
        "line",
        "Numbers over time are a line.",
        [
            asks("Show all missions with their launch date and mass"),
            press("tab", "Chart"),
            sees("polyline.line"),
        ],
    ),
    Step(
        "scatter",
        "Two numbers of each thing are points with names.",
        [asks("Show the mass and diameter of all planets"), sees(".dot", count=8)],
    ),
    Step(
        "map",
        "Who asks where things are, or for a map, sees them on one, with their names.",
        [asks("Show the launch sites on a map"), sees("circle.pin", count=25)],
    ),
    Step(
        "card",
        "One thing opens as its card.",
        [asks("Who was the commander of Apollo 11?"), sees(".thing-card", "5 August 1930")],
    ),
    Step(
        "table",
        "Every result is a table: sorted by a press on a head, filtered, in pages.",
        [
            asks(ROCKETS),
            press("tab", "Table"),
            press("button", "height", within="thead"),
            sees("tbody tr", count=25),
        ],
    ),
    Step(
        "filtered",
        "Rows are filtered by words; a download has these alone.",
        [
            asks(ROCKETS),
            press("tab", "Table"),
            write("Filter rows", "falcon"),
            sees(".count", "of 34 rows"),
            press("button", "Download"),
            saves("Excel (XLSX)", ".xlsx"),
            press("button", "Download"),
            sees(".popover", "Filtered rows"),
        ],
    ),
    Step(
        "iri-card",
        "The IRI of a thing shows where it is pointed at.",
        [asks(MOONS), press("tab", "Table"), hover("tbody td a"), sees(".iri-card")],
    ),
    Step(
        "pictures",
        "A chart is saved as a picture, SVG or PNG.",
        [
            asks(MOONS),
            press("button", "Picture"),
            saves("SVG", ".svg"),
            press("button", "Picture"),
            sees(".popover"),
        ],
    ),
    Step(
        "evidence",
        "The triples behind the rows are a drawing that says what it leaves out.",
        [asks(MOONS), press("tab", "Graph"), sees("canvas"), sees("p", "^Drawn is what is behind")],
    ),
    Step(
        "why",
        "Each row says why it is there.",
        [asks(MOONS), press("tab", "Table"), press("button", "Why is"), sees(".why li")],
    ),
    Step(
        "part",
        "A part of the reading is changed where it stands.",
        [asks(OF_MARS), press("button", "Mars", exact=True), sees(".alternative", "Neptune")],
    ),
    Step(
        "part-changed",
        "The changed query is a run of its own: with an address, and a way back.",
        [
            asks(OF_MARS),
            press("button", "Mars", exact=True),
            press("button", "Neptune"),
            sees(".headline", "Triton"),
            sees(".chosen-reading"),
        ],
    ),
    Step(
        "readings",
        "Other readings open in place of the answer.",
        [
            asks("When was Armstrong born?"),
            fold("Other readings"),
            sees(".drafts li"),
        ],
    ),
    Step(
        "asked-back",
        "Where readings are about as likely, the page asks back.",
        [asks("Which missions launched in 1850?"), sees(".option")],
    ),
    Step(
        "sort",
        "Chips arrange the rows by changing the query.",
        [
            asks(ROCKETS),
            press("button", "Sort", within=".arranging"),
            press("button", "height ↓"),
            sees(".chip.arranged", "height ↓"),
            press("button", "Only the first", within=".arranging"),
            press("button", "the first 3"),
            sees(".marks .bar", count=3),
        ],
    ),
    Step(
        "count-by",
        "Rows are counted by what they have.",
        [
            asks("Show all astronauts with their nationality"),
            press("button", "Count by", within=".arranging"),
            press("button", "for each nationality"),
            sees(".marks .bar"),
        ],
    ),
    Step(
        "talk",
        "A talk goes on over the last result.",
        [
            asks("Which moons orbit Saturn?", "which of them is the largest"),
            sees(".headline", "Titan"),
        ],
    ),
    Step(
        "talk-numbers",
        "“How many are these” and “only the first five” speak of the last result.",
        [
            asks("Which moons orbit Saturn?", "only the first five", "how many are these"),
            sees(".headline", "^There are 5 moons"),
        ],
    ),
    Step(
        "talk-of-these",
        "The largest of them is one of these, and what stands alone is asked on its own.",
        [
            asks(
                "Which moons orbit Saturn?",
                "only the first five",
                "which of them is the largest?",
                "missions per year",
            ),
            sees(".headline", "Dione"),
            sees(".headline", "^Most: 1966"),
        ],
    ),
    Step(
        "talk-other",
        "A follow-up with another thing takes its place; one that does not fit stands alone.",
        [asks(OF_MARS, "And which orbit Earth?"), sees(".headline", "Moon")],
    ),
    Step(
        "greeting",
        "“hello” and “what can I ask?” are answered.",
        [asks("what can I ask?"), sees(".option", r"\?$", count=3)],
    ),
    Step(
        "refusal",
        "A refusal says which word it lacked, and shows its best attempt.",
        [asks("Which rocket is the best?"), sees(".note", "best")],
    ),
    Step(
        "query",
        "The query is in an editor, which completes the graph's names.",
        [
            asks("How big is Titan?"),
            fold("Query"),
            press("textbox", "SPARQL query"),
            keys("Control+End", "ArrowLeft"),
            types("?x discov"),
            sees(".cm-tooltip-autocomplete"),
            sees(".finding", "Line 5"),
        ],
    ),
    Step(
        "steps",
        "How it was found: every step.",
        [asks("How big is Titan?"), fold("How it was found"), sees(".step")],
    ),
    Step(
        "wrong",
        "“Wrong” opens the other readings, and where one says what a word means; words may follow.",
        [
            asks("How big is Titan?"),
            press("button", "Wrong"),
            sees(".drafts p"),
            sees(".teach"),
            sees(".verdict-form"),
        ],
    ),
    Step(
        "next",
        "Under each answer are questions that may follow it.",
        [asks("How big is Titan?"), sees("text=Ask next")],
    ),
    Step(
        "teach",
        "A graph is taught what a word means.",
        [asks("How big is Titan?"), fold("Say what a word means")],
    ),
    Step(
        "pin",
        "An answer is pinned to a board.",
        [asks("How big is Titan?"), press("button", "Pin"), sees(".popover")],
    ),
    Step("boards", "Boards run their queries anew.", [sees("h1")], path="/boards"),
    Step(
        "share",
        "An answer is shared by its address.",
        [asks("How big is Titan?"), press("button", "Share"), sees(".share")],
    ),
    Step(
        "history",
        "What was asked before is found again.",
        [asks("How big is Titan?", "How big is Io?"), press("link", "History"), sees("h1")],
    ),
    Step("graphs", "The graphs that can be asked.", [sees(".graph-card")], path="/graphs"),
    Step(
        "graph",
        "A graph: what it holds, and how its classes are linked.",
        [
            sees(".term-list"),
            sees(".lead"),
            hover(".classes-drawn a"),
            sees(".classes-drawn .near"),
        ],
        path="/graphs/space",
    ),
    Step(
        "thing",
        "All that a graph says of a thing.",
        [sees(".facts")],
        path="/graphs/space?iri=https%3A%2F%2Fexample.org%2Fspace%2FTitan",
    ),
    Step("docs", "The interfaces for programs, to read.", [sees("details")], path="/docs"),
    Step("compare", "Methods side by side.", [sees(".method-choices")], path="/compare"),
    Step("add", "A graph is added by a file or an address.", [sees(".drop")], path="/add"),
    Step(
        "shortcuts",
        "The list of keys.",
        [sees("h1"), keys("Escape", "?"), sees("dialog")],
        "/history",
    ),
    Step(
        "missing",
        "An address that leads nowhere shows a page.",
        [sees("h1")],
        path="/nowhere",
        allows=["status of 404"],
    ),
    Step(
        "german",
        "The same in German.",
        [asks("Welche Monde sind größer als der Merkur?"), sees(".headline", "Ganymed")],
        locale="de-DE",
    ),
    Step(
        "french",
        "The same in French.",
        [asks("Qui a découvert Titan ?"), sees(".headline", "Huygens")],
        locale="fr-FR",
    ),
    Step(
        "spanish",
        "The same in Spanish.",
        [asks("¿Cuál es la masa de Saturno?"), sees(".headline", "kg")],
        locale="es-ES",
    ),
    Step("dark", "The same in the dark.", [asks(MOONS), sees(".bar")], dark=True),
    Step("phone", "The first view on a phone.", [sees("button.starter")], phone=True),
    Step("phone-answer", "An answer on a phone.", [asks(MOONS), sees(".bar")], phone=True),
    Step(
        "phone-table",
        "A table on a phone.",
        [asks(ROCKETS), press("tab", "Table"), sees("tbody tr")],
        phone=True,
    ),
    Step(
        "phone-map",
        "The map on a phone, in the dark.",
        [asks("Where are the launch sites?"), sees("circle.pin", count=25)],
        phone=True,
        dark=True,
    ),
    Step(
        "phone-graph",
        "A graph on a phone.",
        [sees(".classes-drawn"), sees(".term-list")],
        "/graphs/space",
        phone=True,
    ),
)
