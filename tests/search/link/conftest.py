"""A small index of names of every kind and in several scripts."""

import pytest

from askgraph.graph.names import build_acronym
from askgraph.index.names import IndexedName, ItemKind, NameIndex

PLACE = "http://example.org/"
ENTITIES = {
    "curie": ("Marie Curie", "Maria Skłodowska"), "noether": ("Emmy Noether",),
    "esa": ("European Space Agency",), "uk": ("United Kingdom",), "ocean": ("Pacific Ocean",),
    "hospital": ("St. Mary's Hospital",), "hostel": ("O'Brien's Hostel",), "fuji": ("富士山",),
    "athens": ("Αθήνα",), "moscow": ("Москва",), "cairo": ("القاهرة",), "cafe": ("Café Zürich",),
    "catch": ("Catch-22",), "bridge": ("Golden Gate Bridge",), "whale": ("The Whale and the Boat",),
    "nothing": ("Museum of Nothing",),
}  # fmt: skip
CLASSES = {
    "Person": "person",
    "City": "city",
    "SpaceStation": "space station",
    "Photo": "photo",
    "Leaf": "Blumentopf",
}
PREDICATES = {
    "fname": "fname",
    "birthDate": "birth date",
    "launchSite": "launch site",
    "photograph": "photograph",
    "population": "population",
    "headOfState": "head of state",
    "stuid": "stuid",
}
VALUES = ("in progress", "AB-12", "Red")


@pytest.fixture(scope="session")
def index() -> NameIndex:
    names = [
        IndexedName(text, PLACE + local, ItemKind.ENTITY, preferred=number == 0)
        for local, texts in ENTITIES.items()
        for number, text in enumerate(texts)
    ]
    names += [
        IndexedName(build_acronym(texts[0]), PLACE + local, ItemKind.ENTITY, preferred=False)
        for local, texts in ENTITIES.items()
        if build_acronym(texts[0])
    ]
    names += [IndexedName(text, PLACE + local, ItemKind.CLASS) for local, text in CLASSES.items()]
    names += [
        IndexedName(text, PLACE + local, ItemKind.PREDICATE) for local, text in PREDICATES.items()
    ]
    names += [IndexedName(text, f'"{text}"', ItemKind.VALUE) for text in VALUES]
    return NameIndex.from_names(names)
