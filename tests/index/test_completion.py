"""Names that complete what is typed, in bounded time."""

from hypothesis import given
from hypothesis import strategies as st
from tests.each import for_each

from askgraph.index.names import IndexedName, ItemKind, NameIndex, complete_names

NAMES = NameIndex.from_names(
    [
        IndexedName("Saturn", "http://x/Saturn", ItemKind.ENTITY),
        IndexedName("Saturn V", "http://x/SaturnV", ItemKind.ENTITY),
        IndexedName("der Saturn", "http://x/Saturn", ItemKind.ENTITY, preferred=False),
        IndexedName("moons", "http://x/Moon", ItemKind.CLASS),
        IndexedName("Olympus Mons", "http://x/Olympus", ItemKind.ENTITY),
        IndexedName("orbits", "http://x/orbits", ItemKind.PREDICATE),
        IndexedName("New York City", "http://x/NYC", ItemKind.ENTITY),
        IndexedName("Saturday", '"Saturday"', ItemKind.VALUE),
        IndexedName("Ägypten", "http://x/Egypt", ItemKind.ENTITY),
    ]
)


def found(text: str, limit: int = 8) -> list[tuple[str, int]]:
    return [(one.name.text, one.start) for one in complete_names(NAMES, text, limit=limit)]


@for_each(
    ("text", "names"),
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
)
def test_the_end_of_a_text_is_completed(text: str, names: list[tuple[str, int]]) -> None:
    assert found(text) == names


def test_no_more_are_given_than_wanted() -> None:
    assert found("sat", limit=1) == [("Saturn", 0)]


@given(st.text())
def test_any_text_may_be_typed(text: str) -> None:
    for one in complete_names(NAMES, text):
        assert text[one.start :].strip()


def test_of_a_large_index_few_names_are_read() -> None:
    read: list[int] = []

    class Watched(NameIndex):
        def read_name(self, at: int) -> IndexedName:
            read.append(at)
            return super().read_name(at)

    many = Watched.from_names(
        IndexedName(f"thing {n}", f"http://x/{n}", ItemKind.ENTITY) for n in range(20_000)
    )
    assert len(complete_names(many, "thi", limit=8)) == 8
    assert 8 <= len(read) < 5000
