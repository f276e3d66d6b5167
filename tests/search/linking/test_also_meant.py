"""What else the words of a question may mean."""

from askgraph.index.names import Kind, Name, NameIndex
from askgraph.search.linking.also_meant import also_meant
from askgraph.search.linking.link import link
from askgraph.search.linking.text import read

PLANET, GOD, CAR = "http://x/planet", "http://x/god", "http://x/car"
INDEX = NameIndex.of(
    [
        Name("Mercury", PLANET, Kind.ENTITY),
        Name("Mercury", GOD, Kind.ENTITY),
        Name("mercury", CAR, Kind.CLASS),
        Name("Venus", "http://x/venus", Kind.ENTITY),
        Name("diameter", "http://x/diameter", Kind.PREDICATE),
    ]
)
LINKED = link(read("What is the diameter of Mercury?", "en"), INDEX)


def test_a_homonym_of_the_same_kind_may_be_meant() -> None:
    assert also_meant(LINKED, PLANET) == (GOD,)
    assert also_meant(LINKED, GOD) == (PLANET,)


def test_other_words_and_other_kinds_mean_nothing_else() -> None:
    assert also_meant(LINKED, "http://x/diameter") == ()
    assert also_meant(LINKED, "http://x/venus") == ()
    assert also_meant(LINKED, CAR) == ()
