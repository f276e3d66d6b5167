// The texts of the views of a result.

import { texts } from "../i18n/index.ts";

export const say = texts({
  table: ["Table", "Tabelle"],
  subject: ["subject", "Subjekt"],
  predicate: ["predicate", "Prädikat"],
  object: ["object", "Objekt"],
  chart: ["Chart", "Diagramm"],
  map: ["Map", "Karte"],
  graph: ["Graph", "Graph"],
  views: ["Ways to look at the result", "Ansichten des Ergebnisses"],
  result: ["Result", "Ergebnis"],
  yes: ["Yes", "Ja"],
  no: ["No", "Nein"],
  noRows: ["No rows.", "Keine Zeilen."],
  rows: [
    (count: number, shown: string) => (count === 1 ? "1 row" : `${shown} rows`),
    (count: number, shown: string) => (count === 1 ? "1 Zeile" : `${shown} Zeilen`),
  ],
  someRows: [
    (shown: string, all: string) => `${shown} of ${all} rows`,
    (shown: string, all: string) => `${shown} von ${all} Zeilen`,
  ],
  firstOnly: [
    (here: string, all: string) =>
      `The first ${here} of ${all} rows are here. Sorting and the filter work on these; a download has all.`,
    (here: string, all: string) =>
      `Hier stehen die ersten ${here} von ${all} Zeilen. Sortieren und Filtern gelten für diese; ein Download hat alle.`,
  ],
  cutOff: [
    (by: string, reason: string) => `The result was cut off by ${by}: ${reason}`,
    (by: string, reason: string) => `Das Ergebnis wurde abgeschnitten von ${by}: ${reason}`,
  ],
  filter: ["Filter rows", "Zeilen filtern"],
  nothingMatches: ["No row has all of these words.", "Keine Zeile enthält alle diese Wörter."],
  numberOf: [(noun: string) => `number of ${several(noun)}`, (noun: string) => `Anzahl ${noun}`],
  context: ["context", "Kontext"],
  contextHint: [
    "Not asked for, but helps to read the answer",
    "Nicht gefragt, hilft aber, die Antwort zu lesen",
  ],
  sortBy: [(column: string) => `Sort by ${column}`, (column: string) => `Nach ${column} sortieren`],
  unbound: ["no value", "kein Wert"],
  iris: ["IRIs", "IRIs"],
  irisHint: ["Show the IRI under each label", "Unter jedem Namen die IRI zeigen"],
  copyHint: [
    "Copy the rows, to paste them into a spreadsheet",
    "Die Zeilen kopieren, um sie in eine Tabellenkalkulation einzufügen",
  ],
  copyIri: ["Copy the IRI", "IRI kopieren"],
  open: ["Open at its source", "An der Quelle öffnen"],
  download: ["Download", "Herunterladen"],
  downloadAll: [(rows: string) => `All rows (${rows})`, (rows: string) => `Alle Zeilen (${rows})`],
  downloadTriples: ["Triples behind them", "Tripel dahinter"],
  whyShort: ["Why?", "Warum?"],
  evidence: ["evidence", "Belege"],
  why: ["Why is this here?", "Warum steht das hier?"],
  whyRow: [(name: string) => `Why is ${name} here?`, (name: string) => `Warum steht ${name} hier?`],
  noEvidence: [
    "There are no triples to show for this row.",
    "Zu dieser Zeile gibt es keine Tripel zu zeigen.",
  ],
  asDrawing: ["Show as a graph", "Als Graph zeigen"],
  page: [
    (page: number, pages: number) => `Page ${page} of ${pages}`,
    (page: number, pages: number) => `Seite ${page} von ${pages}`,
  ],
  pages: ["Pages of the table", "Seiten der Tabelle"],
  first: ["First page", "Erste Seite"],
  previous: ["Previous page", "Vorige Seite"],
  next: ["Next page", "Nächste Seite"],
  last: ["Last page", "Letzte Seite"],
  perPage: ["Rows a page", "Zeilen je Seite"],
  picture: [(name: string) => `Picture: ${name}`, (name: string) => `Bild: ${name}`],
  language: [(tag: string) => `in language ${tag}`, (tag: string) => `in der Sprache ${tag}`],
  loading: ["Loading …", "Wird geladen …"],
  chartOf: [
    (value: string, by: string) => `${value} by ${by}`,
    (value: string, by: string) => `${value} nach ${by}`,
  ],
  over: [
    (value: string, time: string) => `${value} over ${time}`,
    (value: string, time: string) => `${value} über ${time}`,
  ],
  spread: [(value: string) => `Spread of ${value}`, (value: string) => `Verteilung von ${value}`],
  show: ["Show", "Zeigen"],
  barsCut: [
    (shown: string, all: string) => `The first ${shown} of ${all}, in the order of the table.`,
    (shown: string, all: string) =>
      `Die ersten ${shown} von ${all}, in der Reihenfolge der Tabelle.`,
  ],
  chartHelp: [
    "Arrow keys go from value to value.",
    "Mit den Pfeiltasten geht es von Wert zu Wert.",
  ],
  range: [
    (from: string, to: string) => `${from} to ${to}`,
    (from: string, to: string) => `${from} bis ${to}`,
  ],
  placesList: ["Places in a list", "Orte als Liste"],
  mapHelp: [
    "Arrow keys move the map, plus and minus zoom, 0 shows all.",
    "Pfeiltasten bewegen die Karte, Plus und Minus vergrößern und verkleinern, 0 zeigt alles.",
  ],
  mapOf: [
    (count: string) => `Map with ${count} places`,
    (count: string) => `Karte mit ${count} Orten`,
  ],
  nearer: ["Nearer", "Näher"],
  farther: ["Farther", "Weiter weg"],
  all: ["Show all", "Alles zeigen"],
  somewhere: [
    (count: number, shown: string) =>
      count === 1
        ? "1 row has no place on Earth and is only in the table."
        : `${shown} rows have no place on Earth and are only in the table.`,
    (count: number, shown: string) =>
      count === 1
        ? "1 Zeile hat keinen Ort auf der Erde und steht nur in der Tabelle."
        : `${shown} Zeilen haben keinen Ort auf der Erde und stehen nur in der Tabelle.`,
  ],
  sameRow: [
    (count: string) => `and ${count} more here`,
    (count: string) => `und ${count} weitere hier`,
  ],
  drawingOf: [
    (things: string, triples: string) => `${things} things and values, ${triples} triples`,
    (things: string, triples: string) => `${things} Dinge und Werte, ${triples} Tripel`,
  ],
  drawingHelp: [
    "Drag to move, press a thing to see more, then scroll to zoom. The list below holds the same.",
    "Ziehen verschiebt, ein Druck auf ein Ding zeigt mehr, danach vergrößert Scrollen. Die Liste darunter enthält dasselbe.",
  ],
  asList: ["The same as a list", "Dasselbe als Liste"],
  legendThing: ["thing", "Ding"],
  legendClass: ["class", "Klasse"],
  legendValue: ["value", "Wert"],
  expand: ["Add what is near", "Nachbarn hinzufügen"],
  allRows: ["Evidence of all rows", "Belege aller Zeilen"],
  source: [(host: string) => `Tiles from ${host}`, (host: string) => `Kacheln von ${host}`],
});

// The plural of English nouns.

/** The plural of an English noun, by the rules alone. */
export function several(noun: string): string {
  if (!/^[a-z ]+$/.test(noun) || noun.endsWith("s")) return noun;
  if (/(x|z|ch|sh)$/.test(noun)) return `${noun}es`;
  return /[^aeiou]y$/.test(noun) ? `${noun.slice(0, -1)}ies` : `${noun}s`;
}
