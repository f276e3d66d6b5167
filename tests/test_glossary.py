"""The glossary names each concept once, and where it is defined."""

import importlib
import re
from pathlib import Path

from tests.each import for_each

PAGE = Path(__file__).parents[1] / "docs" / "glossary.md"
ROWS = re.findall(r"^\| ([^|]+) \| [^|]+ \| `([\w.]+)` \|$", PAGE.read_text(), flags=re.MULTILINE)


def test_each_term_stands_once_and_in_order() -> None:
    terms = [term for term, _ in ROWS]
    assert len(terms) > 40
    assert terms == sorted(set(terms))


@for_each(("term", "place"), ROWS)
def test_a_term_is_defined_where_the_glossary_says(term: str, place: str) -> None:
    module, _, name = place.rpartition(".")
    if not name[0].isupper():
        importlib.import_module(place)
    else:
        assert getattr(importlib.import_module(module), name)
