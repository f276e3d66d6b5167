"""A small index of names of every kind and in several scripts."""

import pytest

from askgraph.graph.names import build_acronym
from askgraph.index.names import Kind, Name, NameIndex

PLACE = "http://example.org/"
ENTITIES = {
    "curie": ("Marie Curie", "Maria Skłodowska"),
    "noether": ("Emmy Noether",),
    "esa": ("European Space Agency",),
    "uk": ("United Kingdom",),
    "ocean": ("Pacific Ocean",),
    "hospital": ("St. Mary's Hospital",),
    "hostel": ("O'Brien's Hostel",),
    "fuji": ("富士山",),
    "athens": ("Αθήνα",),
    "moscow": ("Москва",),
    "cairo": ("القاهرة",),
    "cafe": ("Café Zürich",),
    "catch": ("Catch-22",),
    "bridge": ("Golden Gate Bridge",),
    "whale": ("The Whale and the Boat",),
    "nothing": ("Museum of Nothing",),
}
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
        Name(text, PLACE + local, Kind.ENTITY, preferred=number == 0)
        for local, texts in ENTITIES.items()
        for number, text in enumerate(texts)
    ]
    names += [
        Name(build_acronym(texts[0]), PLACE + local, Kind.ENTITY, preferred=False)
        for local, texts in ENTITIES.items()
        if build_acronym(texts[0])
    ]
    names += [Name(text, PLACE + local, Kind.CLASS) for local, text in CLASSES.items()]
    names += [Name(text, PLACE + local, Kind.PREDICATE) for local, text in PREDICATES.items()]
    names += [Name(text, f'"{text}"', Kind.VALUE) for text in VALUES]
    return NameIndex.of(names)
