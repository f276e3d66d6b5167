"""A graph's glossary as Turtle: standard terms on the classes, properties and things meant.

    o:launchDate skos:altLabel "kickoff" .                            # a class, property or thing
    [] owl:unionOf ( o:Car o:Lorry ) ; skos:altLabel "vehicles" .     # what is of one of these
    [] skos:prefLabel "ship" ; skos:altLabel "boats" .                # another word
    [] sh:select "SELECT …" ; skos:altLabel "active fleet" .          # a query of its own
    [] a skos:ConceptScheme ; rdfs:comment "Distances are in km." .   # for language models

A concept with `skos:exactMatch` means what it matches. `skos:definition` says the same as
`rdfs:comment`; of a class, property or thing it is read into the instructions, behind its name.
"""

from collections.abc import Iterator
from dataclasses import replace

from pyoxigraph import NamedNode, RdfFormat

from askgraph.errors import SetupError
from askgraph.metadata.glossary import Entry, Glossary, checked_instructions, entry_of, twice
from askgraph.rdf import PrefixMap
from askgraph.rdf import vocabulary as voc
from askgraph.rdf.statements import Described, parsed, turtle_text
from askgraph.sparql.lexer import lexed, with_declared

_WORDS = (voc.SKOS_PREF_LABEL, voc.SKOS_ALT_LABEL, voc.SKOS_HIDDEN_LABEL)
_QUERIES = (voc.SH_SELECT, voc.SH_ASK)
_COMMENTS = (voc.RDFS_COMMENT, voc.SKOS_DEFINITION)
_WHOLE = frozenset(map(NamedNode, (voc.SKOS_CONCEPT_SCHEME, voc.OWL_ONTOLOGY)))
"""What is of such a kind is the graph or glossary as a whole."""


def read_turtle_glossary(
    text: str, place: str, *, format: RdfFormat = RdfFormat.TURTLE
) -> Glossary:
    """Return the glossary in an RDF text; `SetupError` says what is wrong with it, and where.

    A word that several classes have means what is of one of them.
    """
    statements, prefixes = parsed(text, place, format=format)
    found: dict[tuple[str, ...], Entry] = {}
    said: list[str] = []
    for subject in statements.subjects:
        one = Described(subject, statements)
        said.extend(_comments(one, PrefixMap(prefixes)))
        for entry in _entries(one, place):
            other = found.get(entry.key)
            found[entry.key] = entry if other is None else _of_both(other, entry, place)
    if not (found or said):
        raise SetupError(
            f"{place} explains no word: put skos:altLabel on the classes, properties and things "
            "that words mean"
        )
    instructions = checked_instructions("\n".join(dict.fromkeys(said)), place)
    return Glossary(instructions=instructions).with_entries(*found.values())


def _entries(one: Described, place: str) -> Iterator[Entry]:
    """A word for each of its labels, those of what is neither named nor joined its synonyms."""
    query = next(filter(None, map(one.text, _QUERIES)), "")
    united = [
        term for head in one.nodes(voc.OWL_UNION_OF) for term in one.statements.listed(head.node)
    ]
    means = [term.value for term in united if isinstance(term, NamedNode)]
    means = means or list(one.iris(voc.SKOS_EXACT_MATCH))
    if not (query or means) and isinstance(one.node, NamedNode):
        means = [one.node.value]
    name = "" if query or means else one.text(voc.SKOS_PREF_LABEL) or ""
    labels = [text for key in _WORDS[bool(name) :] for text, _ in one.labelled(key)]
    if query and not labels:
        raise SetupError(f"{place}: {one.node} has a query and no word: give it a skos:altLabel")
    if labels and not (query or means or name):
        raise SetupError(
            f"{place}: nothing says what {labels[0]!r} means: put its skos:altLabel on the class, "
            "property or thing meant, or give another word of it as skos:prefLabel"
        )
    if query:
        ontologies = one.objects(voc.SH_PREFIXES) or None
        query = with_declared(query, one.statements.declared(ontologies))
    for text in dict.fromkeys(labels):
        meaning = {"query": query} if query else {"means": means, "same_as": name}
        yield entry_of({"word": text, **meaning}, place)


def _of_both(known: Entry, entry: Entry, place: str) -> Entry:
    """The entry of a word that stands at several subjects."""
    if known.means and entry.means:
        return replace(known, means=tuple(dict.fromkeys((*known.means, *entry.means))))
    if (known.same_as, known.query) != (entry.same_as, entry.query):
        raise twice(entry, known, place)
    return known


def _comments(one: Described, prefixes: PrefixMap) -> Iterator[str]:
    texts = [text.strip() for key in _COMMENTS for text, _ in one.labelled(key)]
    if _WHOLE.intersection(one.objects(voc.RDF_TYPE)):
        yield from texts
    elif isinstance(one.node, NamedNode):
        yield from (f"{prefixes.shorten(one.node.value)}: {text}" for text in texts)


def turtle_glossary(glossary: Glossary, prefixes: PrefixMap) -> str:
    """Return a glossary as Turtle, which `read_turtle_glossary` reads as the same glossary."""
    body = "\n".join(_statements(glossary, prefixes))
    return f"{prefixes.header(body)}\n{body}"


def _statements(glossary: Glossary, prefixes: PrefixMap) -> Iterator[str]:
    name = prefixes.shorten
    if glossary.instructions:
        told = f"{name(voc.RDFS_COMMENT)} {turtle_text(glossary.instructions)}"
        yield f"[] a {name(voc.SKOS_CONCEPT_SCHEME)} ;\n    {told} .\n"
    for one in glossary.entries:
        label = f"{name(voc.SKOS_ALT_LABEL)} {turtle_text(one.word)}"
        means = [*map(name, one.means)]
        if len(means) == 1:
            yield f"{means[0]} {label} .\n"
        elif means:
            yield f"[] {name(voc.OWL_UNION_OF)} ( {' '.join(means)} ) ;\n    {label} .\n"
        elif one.same_as:
            yield f"[] {name(voc.SKOS_PREF_LABEL)} {turtle_text(one.same_as)} ;\n    {label} .\n"
        else:
            words = (token.text.upper() for token in lexed(one.query).given)
            form = next((word for word in words if word in ("SELECT", "ASK")), "SELECT")
            asks = voc.SH_ASK if form == "ASK" else voc.SH_SELECT
            yield f"[] {name(asks)} {turtle_text(one.query)} ;\n    {label} .\n"
