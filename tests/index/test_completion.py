"""Names that complete what is typed, in bounded time."""

from hypothesis import given
from hypothesis import strategies as st
from tests.each import for_each

from askgraph.index.completion import completions
from askgraph.index.names import Kind, Name, NameIndex

NAMES = NameIndex.of(
    [
        Name("Saturn", "http://x/Saturn", Kind.ENTITY),
        Name("Saturn V", "http://x/SaturnV", Kind.ENTITY),
        Name("der Saturn", "http://x/Saturn", Kind.ENTITY, preferred=False),
        Name("moons", "http://x/Moon", Kind.CLASS),
        Name("Olympus Mons", "http://x/Olympus", Kind.ENTITY),
        Name("orbits", "http://x/orbits", Kind.PREDICATE),
        Name("New York City", "http://x/NYC", Kind.ENTITY),
        Name("Saturday", '"Saturday"', Kind.VALUE),
        Name("Ägypten", "http://x/Egypt", Kind.ENTITY),
    ]
)


def found(text: str, limit: int = 8) -> list[tuple[str, int]]:
    return [(one.name.text, one.start) for one in completions(NAMES, text, limit=limit)]


@for_each(
    ("text", "names"),
    [
        ("sat", [("Saturn", 0), ("Saturn V", 0)]),
        ("Which moons orbit satu", [("Saturn", 18), ("Saturn V", 18)]),
        ("How big is Saturn V", [("Saturn V", 11)]),
        ("moons", [("moons", 0)]),
        ("moon", [("moons", 0)]),
        ("in new york ci", [("New York City", 3)]),
        ("ÄGY", [("Ägypten", 0)]),
        ("agy", [("Ägypten", 0)]),
        ("mon", [("Olympus Mons", 0)]),
        ("sat ", []),
        ("s", []),
        ("?", []),
        ("", []),
    ],
)
def test_the_end_of_a_text_is_completed(text: str, names: list[tuple[str, int]]) -> None:
    assert found(text) == names


def test_no_more_are_given_than_wanted() -> None:
    assert found("sat", limit=1) == [("Saturn", 0)]


@given(st.text())
def test_any_text_may_be_typed(text: str) -> None:
    for one in completions(NAMES, text):
        assert text[one.start :].strip()


def test_of_a_large_index_few_names_are_read() -> None:
    read: list[int] = []

    class Watched(NameIndex):
        def name(self, at: int) -> Name:
            read.append(at)
            return super().name(at)

    many = Watched.of(Name(f"thing {n}", f"http://x/{n}", Kind.ENTITY) for n in range(20_000))
    assert len(completions(many, "thi", limit=8)) == 8
    assert 8 <= len(read) < 5000
