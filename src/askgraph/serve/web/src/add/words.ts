// The texts of adding a graph.

import { texts } from "../i18n/index.ts";

export const words = texts(
  {
    title: "Add a graph",
    lead: "From files of your own, or from the address of a SPARQL endpoint. Then ask it at once.",
    fromFiles: "From files",
    fromAddress: "From an address",
    ways: "Where the graph comes from",
    drop: "Drop files here",
    or: "or",
    choose: "Choose files",
    accepted: (most: string) =>
      `Turtle, N-Triples, N-Quads, TriG, RDF/XML or JSON-LD, also packed with gzip, bzip2 or xz; up to ${most} together.`,
    unknown: "Its name says no format that can be read.",
    empty: "It is empty.",
    large: "Too large: with it, the files are more than may be sent.",
    twice: "There are two files of this name.",
    takeOut: (name: string) => `Take ${name} out`,
    name: "Name",
    nameHint: "Lower-case letters, digits and hyphens; you ask the graph by this name.",
    nameTaken: "There is a graph of this name already.",
    nameWrong: "Use lower-case letters, digits and hyphens, and begin with a letter or digit.",
    address: "Address of the endpoint",
    addressHint: "The server asks this address for its content and keeps a profile of it.",
    addressWrong: "This is no address of http or https.",
    addFiles: "Add the graph",
    addAddress: "Add the endpoint",
    sending: "Sending the files",
    queued: "Waiting for its turn",
    running: "Reading and indexing",
    checking: "Checking the files",
    loading: "Reading the files",
    profiling: "Counting classes and properties",
    indexing: "Building the indices",
    counted: (triples: string, classes: string, predicates: string) =>
      `${triples} triples, ${classes} classes, ${predicates} properties.`,
    cancel: "Cancel",
    cancelled: "Cancelled. Nothing was added.",
    failed: "It could not be added",
    done: (name: string) => `${name} is ready.`,
    ask: "Ask it",
    browse: "See what is in it",
    another: "Add another one",
    notAllowed: "You may not add graphs on this server.",
    percent: (share: number) => `${Math.round(share * 100)} %`,
  },
  {
    title: "Graph hinzufügen",
    lead: "Aus eigenen Dateien oder von der Adresse eines SPARQL-Endpunkts. Danach gleich fragen.",
    fromFiles: "Aus Dateien",
    fromAddress: "Von einer Adresse",
    ways: "Woher der Graph kommt",
    drop: "Dateien hier ablegen",
    or: "oder",
    choose: "Dateien wählen",
    accepted: (most) =>
      `Turtle, N-Triples, N-Quads, TriG, RDF/XML oder JSON-LD, auch mit gzip, bzip2 oder xz gepackt; zusammen bis ${most}.`,
    unknown: "Ihr Name sagt kein Format, das gelesen werden kann.",
    empty: "Sie ist leer.",
    large: "Zu groß: mit ihr sind die Dateien mehr, als gesendet werden darf.",
    twice: "Es gibt zwei Dateien dieses Namens.",
    takeOut: (name) => `${name} herausnehmen`,
    name: "Name",
    nameHint: "Kleinbuchstaben, Ziffern und Bindestriche; unter diesem Namen wird er gefragt.",
    nameTaken: "Einen Graphen dieses Namens gibt es schon.",
    nameWrong:
      "Kleinbuchstaben, Ziffern und Bindestriche, am Anfang ein Buchstabe oder eine Ziffer.",
    address: "Adresse des Endpunkts",
    addressHint: "Der Server fragt diese Adresse nach ihrem Inhalt und behält ein Profil davon.",
    addressWrong: "Das ist keine Adresse mit http oder https.",
    addFiles: "Graph hinzufügen",
    addAddress: "Endpunkt hinzufügen",
    sending: "Dateien werden gesendet",
    queued: "Wartet, bis die Reihe an ihm ist",
    running: "Wird gelesen und indiziert",
    checking: "Dateien werden geprüft",
    loading: "Dateien werden gelesen",
    profiling: "Klassen und Eigenschaften werden gezählt",
    indexing: "Indizes werden gebaut",
    counted: (triples, classes, predicates) =>
      `${triples} Tripel, ${classes} Klassen, ${predicates} Eigenschaften.`,
    cancel: "Abbrechen",
    cancelled: "Abgebrochen. Nichts wurde hinzugefügt.",
    failed: "Er konnte nicht hinzugefügt werden",
    done: (name) => `${name} ist bereit.`,
    ask: "Fragen",
    browse: "Ansehen, was darin ist",
    another: "Noch einen hinzufügen",
    notAllowed: "Auf diesem Server dürfen Sie keine Graphen hinzufügen.",
    percent: (share) => `${Math.round(share * 100)} %`,
  },
);

/** What the server does for a graph, in the page's language where it is known. */
export function stageWords(doing: string): string {
  const say = words();
  const [stage = ""] = doing.split(" ");
  const known: Readonly<Record<string, string>> = {
    checking: say.checking,
    loading: say.loading,
    reading: say.loading,
    profiling: say.profiling,
    indexing: say.indexing,
  };
  return known[stage] ?? doing;
}
