// The texts of comparing methods.

import { formatNumber, texts } from "../i18n/index.ts";

export const say = texts({
  title: ["Compare methods", "Methoden vergleichen"],
  lead: [
    "Ask one question in several ways at once: which answers agree, how long each takes, and what it costs.",
    "Eine Frage auf mehrere Arten zugleich stellen: welche Antworten übereinstimmen, wie lange jede braucht und was sie kostet.",
  ],
  question: ["Your question", "Ihre Frage"],
  placeholder: ["Ask a question, in your own words", "Stellen Sie eine Frage, in Ihren Worten"],
  methods: ["Methods", "Methoden"],
  fewer: ["Choose at least two methods.", "Wählen Sie mindestens zwei Methoden."],
  model: ["Language model", "Sprachmodell"],
  noModel: [
    "Needs a language model, and none is set up here.",
    "Braucht ein Sprachmodell, und hier ist keines eingerichtet.",
  ],
  compare: ["Compare", "Vergleichen"],
  stopAll: ["Stop all", "Alle anhalten"],
  running: [
    (done: number, all: number) => `${done} of ${all} methods are done`,
    (done: number, all: number) => `${done} von ${all} Methoden sind fertig`,
  ],
  allAgree: [
    (count: number) =>
      count === 2
        ? "Both methods give the same result."
        : `All ${count} methods give the same result.`,
    (count: number) =>
      count === 2
        ? "Beide Methoden liefern dasselbe Ergebnis."
        : `Alle ${count} Methoden liefern dasselbe Ergebnis.`,
  ],
  someAgree: [
    (count: number, all: number) => `${count} of ${all} methods give the same result.`,
    (count: number, all: number) => `${count} von ${all} Methoden liefern dasselbe Ergebnis.`,
  ],
  noneAgree: [
    "Every method gives a result of its own.",
    "Jede Methode liefert ein anderes Ergebnis.",
  ],
  noneAnswers: ["No method has an answer.", "Keine Methode hat eine Antwort."],
  oneAnswers: ["Only one method has an answer.", "Nur eine Methode hat eine Antwort."],
  group: [(letter: string) => `Result ${letter}`, (letter: string) => `Ergebnis ${letter}`],
  groupOf: [
    (letter: string) => `Same letter, same result: this is result ${letter}`,
    (letter: string) => `Gleicher Buchstabe, gleiches Ergebnis: dies ist Ergebnis ${letter}`,
  ],
  noAnswer: ["No answer", "Keine Antwort"],
  asksBack: ["Asks back", "Fragt zurück"],
  stopped: ["Stopped", "Angehalten"],
  time: ["Time", "Zeit"],
  queries: ["Queries", "Anfragen"],
  tokens: ["Tokens", "Tokens"],
  money: ["Cost", "Kosten"],
  sure: ["Confidence", "Sicherheit"],
  percent: [(value: number) => `${value} %`, (value: number) => `${value} %`],
  result: ["Result", "Ergebnis"],
  query: ["Query", "Anfrage"],
  queryDiff: [
    (name: string) => `Query, against that of ${name}`,
    (name: string) => `Anfrage, verglichen mit der von ${name}`,
  ],
  sameQuery: [
    (name: string) => `The same query as that of ${name}.`,
    (name: string) => `Dieselbe Anfrage wie die von ${name}.`,
  ],
  removed: ["only there", "nur dort"],
  added: ["only here", "nur hier"],
  open: ["Open", "Öffnen"],
  readings: [
    (count: number) => `${formatNumber(count)} readings`,
    (count: number) => `${formatNumber(count)} Lesarten`,
  ],
});
