"""IRIs of the standard vocabularies, as plain strings: constants only."""

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDF_TYPE = RDF + "type"
RDF_PROPERTY = RDF + "Property"
RDF_LANG_STRING = RDF + "langString"
RDF_VALUE = RDF + "value"
RDF_FIRST = RDF + "first"
RDF_REST = RDF + "rest"
RDF_NIL = RDF + "nil"

RDFS = "http://www.w3.org/2000/01/rdf-schema#"
RDFS_CLASS = RDFS + "Class"
RDFS_RESOURCE = RDFS + "Resource"
RDFS_LITERAL = RDFS + "Literal"
RDFS_LABEL = RDFS + "label"
RDFS_COMMENT = RDFS + "comment"
RDFS_SUB_CLASS_OF = RDFS + "subClassOf"
RDFS_SUB_PROPERTY_OF = RDFS + "subPropertyOf"
RDFS_DOMAIN = RDFS + "domain"
RDFS_RANGE = RDFS + "range"

OWL = "http://www.w3.org/2002/07/owl#"
OWL_CLASS = OWL + "Class"
OWL_EQUIVALENT_CLASS = OWL + "equivalentClass"
OWL_THING = OWL + "Thing"
OWL_NAMED_INDIVIDUAL = OWL + "NamedIndividual"
OWL_OBJECT_PROPERTY = OWL + "ObjectProperty"
OWL_DATATYPE_PROPERTY = OWL + "DatatypeProperty"
OWL_ANNOTATION_PROPERTY = OWL + "AnnotationProperty"
OWL_TRANSITIVE_PROPERTY = OWL + "TransitiveProperty"
OWL_SYMMETRIC_PROPERTY = OWL + "SymmetricProperty"
OWL_ONTOLOGY = OWL + "Ontology"
OWL_UNION_OF = OWL + "unionOf"
OWL_INVERSE_OF = OWL + "inverseOf"
OWL_SAME_AS = OWL + "sameAs"

XSD = "http://www.w3.org/2001/XMLSchema#"
XSD_STRING = XSD + "string"
XSD_BOOLEAN = XSD + "boolean"
XSD_DECIMAL = XSD + "decimal"
XSD_INTEGER = XSD + "integer"
XSD_INT = XSD + "int"
XSD_BYTE = XSD + "byte"
XSD_FLOAT = XSD + "float"
XSD_DOUBLE = XSD + "double"
XSD_DATE = XSD + "date"
XSD_DATE_TIME = XSD + "dateTime"
XSD_DATE_TIME_STAMP = XSD + "dateTimeStamp"
XSD_TIME = XSD + "time"
XSD_G_YEAR = XSD + "gYear"
XSD_G_YEAR_MONTH = XSD + "gYearMonth"
XSD_G_MONTH = XSD + "gMonth"
XSD_G_DAY = XSD + "gDay"
XSD_DURATION = XSD + "duration"
XSD_DAY_TIME_DURATION = XSD + "dayTimeDuration"
XSD_YEAR_MONTH_DURATION = XSD + "yearMonthDuration"

_UNSIGNED = "nonNegativeInteger positiveInteger unsignedLong unsignedInt unsignedShort unsignedByte"
_SIGNED = "integer nonPositiveInteger negativeInteger long int short byte"
INTEGER_DATATYPES = frozenset(XSD + name for name in f"{_SIGNED} {_UNSIGNED}".split())
NUMERIC_DATATYPES = INTEGER_DATATYPES | {XSD_DECIMAL, XSD_FLOAT, XSD_DOUBLE}
DATE_DATATYPES = frozenset(
    {XSD_DATE, XSD_DATE_TIME, XSD_DATE_TIME_STAMP, XSD_G_YEAR, XSD_G_YEAR_MONTH}
)
DURATION_DATATYPES = frozenset({XSD_DURATION, XSD_DAY_TIME_DURATION, XSD_YEAR_MONTH_DURATION})

WIKIBASE = "http://wikiba.se/ontology#"
WIKIBASE_SITELINKS = WIKIBASE + "sitelinks"
WIKIBASE_DIRECT = WIKIBASE + "directClaim"
WIKIBASE_FORMS = (
    WIKIBASE_DIRECT,
    WIKIBASE + "claim",
    WIKIBASE + "statementProperty",
    WIKIBASE + "qualifier",
)
"""Predicates from a property, which has the labels, to the predicates that represent it."""
WIKIBASE_RANK = WIKIBASE + "rank"
WIKIBASE_INTERNAL_PREDICATES = (
    *WIKIBASE_FORMS,
    WIKIBASE_RANK,
    WIKIBASE_SITELINKS,
    WIKIBASE + "statements",
)
WIKIBASE_PREFERRED = WIKIBASE + "PreferredRank"
WIKIBASE_DEPRECATED = WIKIBASE + "DeprecatedRank"

QUDT = "http://qudt.org/schema/qudt/"
QUDT_UNIT_NAMESPACE = "http://qudt.org/vocab/unit/"

SKOS = "http://www.w3.org/2004/02/skos/core#"
SKOS_PREF_LABEL = SKOS + "prefLabel"
SKOS_ALT_LABEL = SKOS + "altLabel"
SKOS_HIDDEN_LABEL = SKOS + "hiddenLabel"
SKOS_DEFINITION = SKOS + "definition"
SKOS_EXAMPLE = SKOS + "example"
SKOS_SCOPE_NOTE = SKOS + "scopeNote"
SKOS_EXACT_MATCH = SKOS + "exactMatch"
SKOS_CONCEPT_SCHEME = SKOS + "ConceptScheme"

SKOS_XL = "http://www.w3.org/2008/05/skos-xl#"
SKOS_XL_LITERAL_FORM = SKOS_XL + "literalForm"

SCHEMA = "http://schema.org/"
SCHEMA_HTTPS = "https://schema.org/"
SCHEMA_NAME = SCHEMA + "name"
SCHEMA_ALTERNATE_NAME = SCHEMA + "alternateName"
SCHEMA_DESCRIPTION = SCHEMA + "description"
SCHEMA_TARGET = SCHEMA + "target"
SCHEMA_ABOUT = SCHEMA + "about"

FOAF = "http://xmlns.com/foaf/0.1/"
FOAF_NAME = FOAF + "name"
FOAF_NICK = FOAF + "nick"

DC = "http://purl.org/dc/elements/1.1/"
DC_TITLE = DC + "title"
DC_DESCRIPTION = DC + "description"
DBO_DESCRIPTION = "http://dbpedia.org/ontology/description"

DCTERMS = "http://purl.org/dc/terms/"
DCTERMS_TITLE = DCTERMS + "title"
DCTERMS_ALTERNATIVE = DCTERMS + "alternative"
DCTERMS_DESCRIPTION = DCTERMS + "description"
DCTERMS_CREATED = DCTERMS + "created"
DCTERMS_SOURCE = DCTERMS + "source"
DCTERMS_CREATOR = DCTERMS + "creator"

VOID = "http://rdfs.org/ns/void#"
VOID_DATASET = VOID + "Dataset"
VOID_TRIPLES = VOID + "triples"
VOID_ENTITIES = VOID + "entities"
VOID_CLASSES = VOID + "classes"
VOID_PROPERTIES = VOID + "properties"
VOID_SUBSET = VOID + "subset"
VOID_SPARQL_ENDPOINT = VOID + "sparqlEndpoint"
VOID_LINK_PREDICATE = VOID + "linkPredicate"
VOID_SUBJECTS_TARGET = VOID + "subjectsTarget"
VOID_OBJECTS_TARGET = VOID + "objectsTarget"
VOID_CLASS = VOID + "class"
VOID_PROPERTY = VOID + "property"
VOID_CLASS_PARTITION = VOID + "classPartition"
VOID_PROPERTY_PARTITION = VOID + "propertyPartition"
VOID_DISTINCT_SUBJECTS = VOID + "distinctSubjects"
VOID_DISTINCT_OBJECTS = VOID + "distinctObjects"

VOID_EXT = "http://ldf.fi/void-ext#"
VOID_EXT_DATATYPE = VOID_EXT + "datatype"
VOID_EXT_DATATYPE_PARTITION = VOID_EXT + "datatypePartition"
VOID_EXT_LANGUAGE = VOID_EXT + "language"
VOID_EXT_LANGUAGE_PARTITION = VOID_EXT + "languagePartition"

SD = "http://www.w3.org/ns/sparql-service-description#"
SD_NAMED_GRAPH_CLASS = SD + "NamedGraph"
SD_NAMED_GRAPH = SD + "namedGraph"
SD_DEFAULT_GRAPH = SD + "defaultGraph"
SD_NAME = SD + "name"
SD_GRAPH = SD + "graph"

SH = "http://www.w3.org/ns/shacl#"
SH_TARGET_CLASS = SH + "targetClass"
SH_PROPERTY = SH + "property"
SH_PATH = SH + "path"
SH_INVERSE_PATH = SH + "inversePath"
SH_ALTERNATIVE_PATH = SH + "alternativePath"
SH_OR = SH + "or"
SH_IN = SH + "in"
SH_CLASS = SH + "class"
SH_NODE = SH + "node"
SH_DATATYPE = SH + "datatype"
SH_NODE_KIND = SH + "nodeKind"
SH_MIN_COUNT = SH + "minCount"
SH_MAX_COUNT = SH + "maxCount"
SH_PREFIXES = SH + "prefixes"
SH_DECLARE = SH + "declare"
SH_PREFIX = SH + "prefix"
SH_NAMESPACE = SH + "namespace"
SH_SPARQL_EXECUTABLE = SH + "SPARQLExecutable"
SH_SPARQL_SELECT_EXECUTABLE = SH + "SPARQLSelectExecutable"
SH_SPARQL_ASK_EXECUTABLE = SH + "SPARQLAskExecutable"
SH_SPARQL_CONSTRUCT_EXECUTABLE = SH + "SPARQLConstructExecutable"
SH_SELECT = SH + "select"
SH_ASK = SH + "ask"
SH_CONSTRUCT = SH + "construct"
SH_AGENT_INSTRUCTION = SH + "agentInstruction"
SH_DEACTIVATED = SH + "deactivated"
SH_DEFAULT_VALUE = SH + "defaultValue"
SH_ORDER = SH + "order"

VANN = "http://purl.org/vocab/vann/"
VANN_PREFERRED_NAMESPACE_PREFIX = VANN + "preferredNamespacePrefix"
VANN_PREFERRED_NAMESPACE_URI = VANN + "preferredNamespaceUri"

PROV = "http://www.w3.org/ns/prov#"
GEO = "http://www.opengis.net/ont/geosparql#"
TIME = "http://www.w3.org/2006/time#"
VCARD = "http://www.w3.org/2006/vcard/ns#"
VCARD_FN = VCARD + "fn"

LABEL_PREDICATES = (
    RDFS_LABEL, SKOS_PREF_LABEL, SCHEMA_NAME, SCHEMA_HTTPS + "name", FOAF_NAME, DCTERMS_TITLE,
    DC_TITLE, SKOS_XL_LITERAL_FORM, VCARD_FN,
)  # fmt: skip
"""Predicates whose object names the subject, the most common first."""

ALTERNATIVE_LABEL_PREDICATES = (
    SKOS_ALT_LABEL,
    SCHEMA_ALTERNATE_NAME,
    SCHEMA_HTTPS + "alternateName",
    DCTERMS_ALTERNATIVE,
    FOAF_NICK,
    SKOS_HIDDEN_LABEL,
)
"""Predicates whose object is an additional name of the subject."""

DESCRIPTION_PREDICATES = (
    RDFS_COMMENT,
    SKOS_DEFINITION,
    SCHEMA_DESCRIPTION,
    SCHEMA_HTTPS + "description",
    DCTERMS_DESCRIPTION,
    DC_DESCRIPTION,
    DBO_DESCRIPTION,
)
"""Predicates whose object describes the subject in one or more sentences."""

CLASS_TYPES = frozenset({RDFS_CLASS, OWL_CLASS})
PROPERTY_TYPES = frozenset(
    {RDF_PROPERTY, OWL_OBJECT_PROPERTY, OWL_DATATYPE_PROPERTY, OWL_ANNOTATION_PROPERTY}
)

SCHEMA_NAMESPACES = (RDF, RDFS, OWL, XSD, SH, VOID)
"""Namespaces of schema languages: their terms are not content."""
