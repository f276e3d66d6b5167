"""What every index promises; run over all that the registry knows but opensearch.

There is no OpenSearch for the tests; `tests/index/test_opensearch.py` has recorded exchanges.
"""

import gc
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.each import for_each

from askgraph.errors import SetupError
from askgraph.index import DiskIndex, Resource
from askgraph.index.folder import check_files
from askgraph.plugins import list_names, load

INDICES = tuple(name for name in list_names("index") if name != "opensearch")
ON_DISK = tuple(name for name in INDICES if name != "postgresql")

EX = "http://example.org/"
FALK = Resource(EX + "1", "Peter Falk", ("Columbo",), 7.0, ("actor",))
EINSTEIN = Resource(EX + "2", "Albert Einstein", (), 9.0, ("physicist", 'said "E=mc²"\n\tonce'))
FINNEY = Resource(EX + "3", "Albert Finney", (), 4.0)
TOKYO = Resource(EX + "4", "東京タワー", ("Tokyo Tower", "Токийская башня"), 3.0)
LITERAL = Resource('"Zürich"@de', "Zürich", (), 2.0)
TWINS = tuple(Resource(f"{EX}twin{at}", "Gemini", (), float(at)) for at in range(1, 6))
ALL = (FALK, EINSTEIN, FINNEY, TOKYO, LITERAL, *TWINS)

every_index = pytest.mark.parametrize("name", INDICES)
every_index_on_disk = for_each("name", ON_DISK)


class Built(dict[str, DiskIndex]):
    """An index of each kind, built when it is asked for."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __missing__(self, name: str) -> DiskIndex:
        self[name] = plugin(name).build(ALL, self._folder / name)
        return self[name]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    return Built(tmp_path_factory.mktemp("indices"))


@pytest.fixture(autouse=True)
def server(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if getattr(request.node, "callspec", None) and "postgresql" in request.node.callspec.id:
        monkeypatch.setenv("ASKGRAPH_INDEX", request.getfixturevalue("index_database"))


def plugin(name: str) -> type[DiskIndex]:
    return cast(type[DiskIndex], load("index", name))


def test_the_indices_are_there() -> None:
    assert INDICES == ("bm25", "hybrid", "keyword", "postgresql", "trigram", "vector")


@every_index
@for_each(
    ("text", "expected"),
    ("albert einstein", EINSTEIN),
    ("FALK", FALK),
    ("Columbo", FALK),
    ("tokyo tower", TOKYO),
    ("東京タワー", TOKYO),
    ("башня", TOKYO),
    ("Zurich", LITERAL),
)
def test_a_name_or_synonym_in_any_script_comes_first(
    built: Built, name: str, text: str, expected: Resource
) -> None:
    assert built[name].search(text)[0].item == expected


@every_index
def test_scores_fall_no_resource_comes_twice_and_equal_matches_are_ranked_by_their_score(
    built: Built, name: str
) -> None:
    twins = built[name].search("gemini", limit=5)
    assert [hit.item for hit in twins] == list(reversed(TWINS))
    hits = built[name].search("albert gemini tower")
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert len({hit.item.iri for hit in hits}) == len(hits)


@every_index
@for_each(("limit", "below"), [(1, 0), (3, -1)])
def test_a_limit_gives_the_first_ones_and_below_one_is_refused(
    built: Built, name: str, limit: int, below: int
) -> None:
    everything = built[name].search("gemini albert", limit=50)
    assert built[name].search("gemini albert", limit=limit) == list(everything)[:limit]
    with pytest.raises(ValueError, match="limit must be 1 or more"):
        built[name].search("gemini", limit=below)


@every_index
def test_within_restricts_before_ranking_and_within_everything_changes_nothing(
    built: Built, name: str
) -> None:
    within = {TWINS[0].iri, FALK.iri, EX + "unknown"}
    hits = built[name].search("gemini", limit=1, within=within)
    assert [hit.item for hit in hits] == [TWINS[0]]
    assert built[name].search("gemini", within=[]) == []
    assert built[name].search("gemini", within=[EX + "unknown"]) == []

    everything = [resource.iri for resource in ALL]
    for text in ("albert e", "gemini", "tokyo falk", "zurich"):
        free = built[name].search(text)
        restricted = built[name].search(text, within=everything)
        assert [hit.item for hit in restricted] == [hit.item for hit in free]
        assert [hit.score for hit in restricted] == pytest.approx([hit.score for hit in free])


@every_index
@for_each("text", ["", " \n"])
def test_no_words_find_nothing(built: Built, name: str, text: str) -> None:
    assert built[name].search(text, limit=3) == []


@every_index
@settings(max_examples=40, deadline=None)
@given(text=st.text(max_size=30))
def test_any_text_may_be_searched(built: Built, name: str, text: str) -> None:
    assert len(built[name].search(text, limit=4)) <= 4


@every_index
def test_resources_come_back_whole_by_iri_and_by_score(built: Built, name: str) -> None:
    assert len(built[name]) == len(ALL)
    assert [built[name].find(resource.iri) for resource in ALL] == list(ALL)
    assert built[name].find(EX + "unknown") is None
    listed = list(built[name].iterate_resources())
    assert sorted(listed, key=lambda resource: -resource.score) == listed
    assert set(listed) == set(ALL)


@every_index
def test_progress_tells_how_many_were_read_and_an_opened_index_finds_the_same(
    built: Built, name: str, tmp_path: Path
) -> None:
    told: list[int] = []
    plugin(name).build(ALL, tmp_path / "index", progress=told.append)
    assert told[-1] == len(ALL) and told == sorted(told)
    opened = plugin(name).open(tmp_path / "index")
    assert opened.search("albert e") == built[name].search("albert e")


@every_index
def test_an_index_of_nothing_finds_nothing(tmp_path: Path, name: str) -> None:
    index = plugin(name).build([], tmp_path / "index")
    assert len(index) == 0 and index.search("albert") == []
    assert index.search("albert", within=[EX]) == [] and index.find(EX) is None


@every_index
def test_a_resource_without_a_label_is_found_by_its_local_name(tmp_path: Path, name: str) -> None:
    nameless = Resource(EX + "parentFeature", "")
    index = plugin(name).build([nameless, FALK], tmp_path / "index")
    assert index.search("parent feature")[0].item == Resource(nameless.iri, "parent feature")


@every_index
@for_each(
    ("resources", "message"),
    ([Resource("", "Nothing")], "has no IRI; its label is 'Nothing'"),
    ([FALK, EINSTEIN, FALK], "'http://example.org/1' occurs twice"),
    ([Resource(EX, "Infinite", (), float("inf"))], "is inf, not a number"),
    ([Resource(EX, "None", (), float("nan"))], "is nan, not a number"),
)
def test_unsound_resources_are_refused_and_nothing_is_left(
    tmp_path: Path, name: str, resources: list[Resource], message: str
) -> None:
    with pytest.raises(SetupError, match=message):
        plugin(name).build(resources, tmp_path / "index")
    assert list(tmp_path.iterdir()) == []


@every_index
def test_a_build_that_fails_leaves_the_old_index(tmp_path: Path, name: str) -> None:
    plugin(name).build(ALL, tmp_path / "index")

    def cut_off() -> Iterator[Resource]:
        yield FINNEY
        raise OSError("the line is cut")

    with pytest.raises(OSError, match="the line is cut"):
        plugin(name).build(cut_off(), tmp_path / "index")

    assert len(plugin(name).open(tmp_path / "index")) == len(ALL)
    assert [path.name for path in tmp_path.iterdir()] == ["index"]


@every_index_on_disk
def test_a_new_build_takes_the_place_of_the_old_one_which_stays_usable(
    tmp_path: Path, name: str
) -> None:
    old = plugin(name).build(ALL, tmp_path / "index")
    new = plugin(name).build([FINNEY], tmp_path / "index")
    assert (len(new), len(plugin(name).open(tmp_path / "index"))) == (1, 1)
    assert old.search("columbo")[0].item == FALK


@every_index
def test_a_folder_with_something_else_is_not_replaced(tmp_path: Path, name: str) -> None:
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "dear.txt").write_text("Dear", encoding="utf-8")
    with pytest.raises(SetupError, match="contains files that do not belong to an index"):
        plugin(name).build(ALL, tmp_path / "letters")
    assert (tmp_path / "letters" / "dear.txt").read_text(encoding="utf-8") == "Dear"


@every_index
def test_a_missing_index_and_one_of_another_kind_are_setup_errors(
    tmp_path: Path, name: str
) -> None:
    with pytest.raises(SetupError, match=r"there is no index in .*absent"):
        plugin(name).open(tmp_path / "absent")
    plugin(name).build(ALL, tmp_path / "index")
    other = next(kind for kind in INDICES if kind != name)
    with pytest.raises(SetupError, match=f"has the kind '{name}', not '{other}'"):
        plugin(other).open(tmp_path / "index")


@every_index_on_disk
def test_every_damaged_file_is_noticed(tmp_path: Path, name: str) -> None:
    plugin(name).build(ALL, tmp_path / "index")
    files = [file for file in (tmp_path / "index").rglob("*") if file.is_file()]
    check_files(tmp_path / "index")
    for file in files:
        whole = file.read_bytes()
        file.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
        with pytest.raises(SetupError, match=r"is damaged: .* does not match its checksum"):
            check_files(tmp_path / "index")
        file.write_bytes(whole[:-1])
        with pytest.raises(SetupError, match="damaged"):
            plugin(name).open(tmp_path / "index")
        file.write_bytes(whole)
    assert len(plugin(name).open(tmp_path / "index")) == len(ALL)


@every_index_on_disk
def test_files_are_closed_with_the_index(tmp_path: Path, name: str) -> None:
    index = plugin(name).build(ALL, tmp_path / "index")
    before = open_files()
    del index
    gc.collect()
    assert len(open_files()) < len(before)


def open_files() -> list[Path]:
    folder = Path("/proc/self/fd")
    return list(folder.iterdir()) if folder.exists() else pytest.skip("no /proc here")
