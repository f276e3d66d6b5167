// The shell's texts.

import { texts } from "../i18n/index.ts";

export const say = texts({
  skip: ["Skip to the content", "Zum Inhalt springen"],
  ask: ["Ask", "Fragen"],
  graphs: ["Graphs", "Graphen"],
  compare: ["Compare", "Vergleichen"],
  history: ["History", "Verlauf"],
  pages: ["Pages", "Seiten"],
  home: ["askgraph: to the question box", "askgraph: zum Fragefeld"],
  language: ["Language", "Sprache"],
  theme: ["Theme", "Erscheinungsbild"],
  themes: [
    ["As the system", "Light", "Dark"],
    ["Wie das System", "Hell", "Dunkel"],
  ],
  help: ["Keyboard shortcuts", "Tastenkürzel"],
  close: ["Close", "Schließen"],
  loading: ["Loading …", "Wird geladen …"],
  missing: ["There is no such page", "Diese Seite gibt es nicht"],
  missingMore: [
    "Perhaps the address was cut short.",
    "Vielleicht wurde die Adresse abgeschnitten.",
  ],
  toStart: ["Ask a question", "Eine Frage stellen"],
  failed: [
    "This part of the page could not be loaded",
    "Dieser Teil der Seite ließ sich nicht laden",
  ],
  reload: ["Load the page anew", "Seite neu laden"],
  shortcutAsk: ["To the question box", "Zum Fragefeld"],
  shortcutStop: [
    "Stop the question that runs; close what is open",
    "Laufende Frage anhalten; Offenes schließen",
  ],
  shortcutSend: ["Ask; in the editor: run the query", "Fragen; im Editor: Anfrage ausführen"],
  shortcutLine: ["A new line in the question", "Neue Zeile in der Frage"],
  shortcutHelp: ["This list", "Diese Liste"],
  shortcutNew: ["A new conversation", "Neues Gespräch"],
  singleKeys: ["Single keys", "Einzelne Tasten"],
  singleKeysMore: [
    "“/”, “n” and “?” without another key; turn them off if you dictate.",
    "„/“, „n“ und „?“ ohne eine andere Taste; schalten Sie sie ab, wenn Sie diktieren.",
  ],
  keyTitle: ["This server asks for an API key", "Dieser Server verlangt einen API-Schlüssel"],
  keyMore: [
    "Whoever runs it can give you one. It is kept until you close this tab.",
    "Wer ihn betreibt, kann Ihnen einen geben. Er bleibt, bis Sie diesen Tab schließen.",
  ],
  keyRefused: [
    "The key was not accepted. Was it copied in full?",
    "Der Schlüssel wurde nicht angenommen. Wurde er vollständig kopiert?",
  ],
  keyLabel: ["API key", "API-Schlüssel"],
  keyUse: ["Use this key", "Diesen Schlüssel verwenden"],
  keyForget: ["Forget the API key", "API-Schlüssel vergessen"],
  cancel: ["Cancel", "Abbrechen"],
  addGraph: ["Add a graph", "Graphen hinzufügen"],
});
