"""The price table: every kind of token has its price, every mistake in the file its message."""

from pathlib import Path

import pytest
from tests.each import for_each

from askgraph.errors import SetupError
from askgraph.llm import TokenUsage
from askgraph.llm.budget import Price, PriceTable

TABLE = """
currency = "EUR"
[models."large"]
input = 2.0
cached_input = 0.5
cache_write = 2.5
output = 8
[models."large-fast"]
input = 1
output = 4
"""


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "prices.toml"
    path.write_text(TABLE)
    return path


def test_each_kind_of_token_has_its_price(table: Path) -> None:
    usage = TokenUsage(input=1_000_000, cached=400_000, cache_written=100_000, output=250_000)

    assert PriceTable.load(table).get_price("large").compute_cost(usage) == pytest.approx(
        1.0 + 0.2 + 0.25 + 2.0
    )


def test_a_dated_version_costs_what_its_model_costs(table: Path) -> None:
    prices = PriceTable.load(table)

    assert prices.get_price("large-2026-01-01") == prices.get_price("large")
    assert prices.get_price("large-fast-2026-01-01") == Price(1, 4)


@pytest.mark.parametrize("model", ["larger", "larg", "small"])
def test_another_model_has_no_price(model: str, table: Path) -> None:
    with pytest.raises(SetupError, match=rf"no price for '{model}'; it has large, large-fast"):
        PriceTable.load(table).get_price(model)


@for_each(
    ("text", "said"),
    ("[models.m]\ninput = 1", "output missing"),
    ("[models.m]\ninput = 1\noutput = -1", "output must be a number of 0 or more, not -1"),
    ("[models.m]\ninput = 1\noutput = nan", "output must be a number of 0 or more, not nan"),
    ("[models.m]\ninput = true\noutput = 1", "input must be a number of 0 or more, not True"),
    ("[models.m]\ninput = 1\noutput = 1\noutptu = 1", "unknown keys"),
    ("[model.m]\ninput = 1\noutput = 1", "unknown keys"),
    ("models = 3", "needs a text `currency` and tables"),
    ("[models]\nm = 3", "a table with input and output"),
    ("[models", "cannot be read"),
)
def test_a_mistake_in_the_table_is_named(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "prices.toml"
    path.write_text(text)

    with pytest.raises(SetupError, match=said):
        PriceTable.load(path)


def test_a_table_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=r"none\.toml cannot be read"):
        PriceTable.load(tmp_path / "none.toml")
