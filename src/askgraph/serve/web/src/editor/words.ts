// The editor's texts.

import { texts } from "../i18n/index.ts";

export const words = texts(
  {
    label: "SPARQL query",
    run: "Run",
    runKeys: "Run (Ctrl Enter)",
    format: "Format",
    undo: "Undo",
    redo: "Redo",
    original: "Back to the original",
    repair: "Repair",
    line: (line: number) => `Line ${line}:`,
  },
  {
    label: "SPARQL-Anfrage",
    run: "Ausführen",
    runKeys: "Ausführen (Strg Eingabe)",
    format: "Formatieren",
    undo: "Rückgängig",
    redo: "Wiederholen",
    original: "Zurück zum Original",
    repair: "Reparieren",
    line: (line: number) => `Zeile ${line}:`,
  },
);
