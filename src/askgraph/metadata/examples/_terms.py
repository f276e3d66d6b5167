"""The terms in which examples are published as SHACL executables, and how ours are marked."""

from askgraph.rdf import vocabulary as voc

SPEX = "https://purl.expasy.org/sparql-examples/ontology#"
SH_DESCRIBE = voc.SH + "describe"
SH_DESCRIBE_EXECUTABLE = voc.SH + "SPARQLDescribeExecutable"
SPEX_DESCRIBE = SPEX + "describe"
SPEX_DESCRIBE_EXECUTABLE = SPEX + "SPARQLDescribeExecutable"
FEDERATES_WITH = SPEX + "federatesWith"

EXECUTABLES = (
    voc.SH_SPARQL_EXECUTABLE,
    voc.SH_SPARQL_SELECT_EXECUTABLE,
    voc.SH_SPARQL_ASK_EXECUTABLE,
    voc.SH_SPARQL_CONSTRUCT_EXECUTABLE,
    SH_DESCRIBE_EXECUTABLE,
    SPEX_DESCRIBE_EXECUTABLE,
)
QUERIES = (voc.SH_SELECT, voc.SH_ASK, voc.SH_CONSTRUCT, SH_DESCRIBE, SPEX_DESCRIBE)
WRITTEN_AS = {
    "SELECT": (voc.SH_SPARQL_SELECT_EXECUTABLE, voc.SH_SELECT),
    "ASK": (voc.SH_SPARQL_ASK_EXECUTABLE, voc.SH_ASK),
    "CONSTRUCT": (voc.SH_SPARQL_CONSTRUCT_EXECUTABLE, voc.SH_CONSTRUCT),
    "DESCRIBE": (SPEX_DESCRIBE_EXECUTABLE, SPEX_DESCRIBE),
}

KEYWORDS = tuple(
    namespace + name
    for namespace in (voc.SCHEMA_HTTPS, voc.SCHEMA)
    for name in ("keywords", "keyword")
)
TARGETS = (voc.SCHEMA_HTTPS + "target", voc.SCHEMA_TARGET)

# How an example came about, and the result by which a later one is compared.
ORIGIN = voc.DCTERMS + "type"
ACCEPTED = voc.DCTERMS + "dateAccepted"
DERIVED_FROM = voc.PROV + "wasDerivedFrom"
ATTRIBUTED_TO = voc.PROV + "wasAttributedTo"
NAME = voc.SCHEMA_HTTPS + "name"
VERSION = voc.SCHEMA_HTTPS + "version"
RESULT = voc.SCHEMA_HTTPS + "result"
COUNT = voc.SCHEMA_HTTPS + "numberOfItems"
DIGEST = voc.SCHEMA_HTTPS + "sha256"
