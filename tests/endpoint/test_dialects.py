"""What servers do differently is made alike before anyone sees it."""

import pytest
from pyoxigraph import Store
from tests.each import for_each
from tests.servers import faults
from tests.servers.sparql import Fault, SparqlServer

from askgraph.endpoint._dialects import repair_value
from askgraph.endpoint.http import HttpEndpoint
from askgraph.errors import MalformedReply
from askgraph.sparql import vocabulary as voc

ONE = '{"type": "typed-literal", "datatype": "http://www.w3.org/2001/XMLSchema#integer"'


def virtuoso_truth(rows: str) -> Fault:
    return faults.body(
        '{"head": {"link": [], "vars": ["__ASK_RETVAL"]},'
        f' "results": {{"distinct": false, "ordered": true, "bindings": [{rows}]}}}}'
    )


async def asked(fault: Fault) -> bool:
    with SparqlServer(Store()) as server:
        server.always = fault
        endpoint = HttpEndpoint(server.url)
        try:
            return await endpoint.ask("ASK { ?s ?p ?o }")
        finally:
            await endpoint.close()


async def test_a_truth_that_comes_as_a_table_is_read() -> None:
    assert await asked(virtuoso_truth(f'{{"__ASK_RETVAL": {ONE}, "value": "1"}}}}'))
    assert not await asked(virtuoso_truth(f'{{"__ASK_RETVAL": {ONE}, "value": "0"}}}}'))
    assert not await asked(virtuoso_truth(""))


async def test_any_other_table_is_no_truth() -> None:
    for names in ("n", ""):
        table = f'{{"head": {{"vars": [{names!r}]}}, "results": {{"bindings": []}}}}'
        with pytest.raises(MalformedReply, match="ASK"):
            await asked(faults.body(table.replace("'", '"')))


@for_each(
    ("datatype", "given", "expected"),
    (voc.XSD_BOOLEAN, "1", "true"),
    (voc.XSD_BOOLEAN, "0", "false"),
    (voc.XSD_BOOLEAN, "true", "true"),
    (voc.XSD_INTEGER, "1", "1"),
    (voc.XSD_DATE, "-043-03-15", "-0043-03-15"),
    (voc.XSD_DATE, "1969-07-20", "1969-07-20"),
    (voc.XSD_DATE, "-12000-01-01", "-12000-01-01"),
    (voc.XSD_DATE_TIME, "79-08-24T13:00:00Z", "0079-08-24T13:00:00Z"),
    (voc.XSD_G_YEAR, "-300", "-0300"),
    (voc.XSD_G_YEAR, "-300Z", "-0300Z"),
    (voc.XSD_G_YEAR, "1930", "1930"),
    (voc.XSD_STRING, "-300", "-300"),
)
def test_a_value_is_written_as_xml_schema_writes_it(
    datatype: str, given: str, expected: str
) -> None:
    assert repair_value(given, datatype) == expected
