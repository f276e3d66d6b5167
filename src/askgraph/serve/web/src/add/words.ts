// The texts of adding a graph.

import { texts } from "../i18n/index.ts";

export const say = texts({
  title: ["Add a graph", "Graph hinzufügen"],
  lead: [
    "From files of your own, or from the address of a SPARQL endpoint. Then ask it at once.",
    "Aus eigenen Dateien oder von der Adresse eines SPARQL-Endpunkts. Danach gleich fragen.",
  ],
  fromFiles: ["From files", "Aus Dateien"],
  fromAddress: ["From an address", "Von einer Adresse"],
  ways: ["Where the graph comes from", "Woher der Graph kommt"],
  drop: ["Drop files here", "Dateien hier ablegen"],
  or: ["or", "oder"],
  choose: ["Choose files", "Dateien wählen"],
  accepted: [
    (most: string) =>
      `Turtle, N-Triples, N-Quads, TriG, RDF/XML or JSON-LD, also packed with gzip, bzip2 or xz; up to ${most} together.`,
    (most: string) =>
      `Turtle, N-Triples, N-Quads, TriG, RDF/XML oder JSON-LD, auch mit gzip, bzip2 oder xz gepackt; zusammen bis ${most}.`,
  ],
  unknown: [
    "Its name says no format that can be read.",
    "Ihr Name sagt kein Format, das gelesen werden kann.",
  ],
  empty: ["It is empty.", "Sie ist leer."],
  large: [
    "Too large: with it, the files are more than may be sent.",
    "Zu groß: mit ihr sind die Dateien mehr, als gesendet werden darf.",
  ],
  twice: ["There are two files of this name.", "Es gibt zwei Dateien dieses Namens."],
  takeOut: [(name: string) => `Take ${name} out`, (name: string) => `${name} herausnehmen`],
  name: ["Name", "Name"],
  nameHint: [
    "Lower-case letters, digits and hyphens; you ask the graph by this name.",
    "Kleinbuchstaben, Ziffern und Bindestriche; unter diesem Namen wird er gefragt.",
  ],
  nameTaken: [
    "There is a graph of this name already.",
    "Einen Graphen dieses Namens gibt es schon.",
  ],
  nameWrong: [
    "Use lower-case letters, digits and hyphens, and begin with a letter or digit.",
    "Kleinbuchstaben, Ziffern und Bindestriche, am Anfang ein Buchstabe oder eine Ziffer.",
  ],
  address: ["Address of the endpoint", "Adresse des Endpunkts"],
  addressHint: [
    "The server asks this address for its content and keeps a profile of it.",
    "Der Server fragt diese Adresse nach ihrem Inhalt und behält ein Profil davon.",
  ],
  addressWrong: [
    "This is no address of http or https.",
    "Das ist keine Adresse mit http oder https.",
  ],
  addFiles: ["Add the graph", "Graph hinzufügen"],
  addAddress: ["Add the endpoint", "Endpunkt hinzufügen"],
  sending: ["Sending the files", "Dateien werden gesendet"],
  queued: ["Waiting for its turn", "Wartet, bis die Reihe an ihm ist"],
  running: ["Reading and indexing", "Wird gelesen und indiziert"],
  checking: ["Checking the files", "Dateien werden geprüft"],
  loading: ["Reading the files", "Dateien werden gelesen"],
  profiling: ["Counting classes and properties", "Klassen und Eigenschaften werden gezählt"],
  indexing: ["Building the indices", "Indizes werden gebaut"],
  counted: [
    (triples: string, classes: string, predicates: string) =>
      `${triples} triples, ${classes} classes, ${predicates} properties.`,
    (triples: string, classes: string, predicates: string) =>
      `${triples} Tripel, ${classes} Klassen, ${predicates} Eigenschaften.`,
  ],
  cancel: ["Cancel", "Abbrechen"],
  cancelled: ["Cancelled. Nothing was added.", "Abgebrochen. Nichts wurde hinzugefügt."],
  failed: ["It could not be added", "Er konnte nicht hinzugefügt werden"],
  done: [(name: string) => `${name} is ready.`, (name: string) => `${name} ist bereit.`],
  ask: ["Ask it", "Fragen"],
  browse: ["See what is in it", "Ansehen, was darin ist"],
  another: ["Add another one", "Noch einen hinzufügen"],
  notAllowed: [
    "You may not add graphs on this server.",
    "Auf diesem Server dürfen Sie keine Graphen hinzufügen.",
  ],
  percent: [
    (share: number) => `${Math.round(share * 100)} %`,
    (share: number) => `${Math.round(share * 100)} %`,
  ],
});

/** Returns the stage of adding a graph in the page's language, if it is known. */
export function stageWords(doing: string): string {
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
