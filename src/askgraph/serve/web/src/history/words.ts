// The history's texts.

import { texts } from "../i18n/index.ts";

export const say = texts({
  title: ["History", "Verlauf"],
  search: ["Search your questions", "Ihre Fragen durchsuchen"],
  nothing: ["Nothing was asked yet.", "Bisher wurde nichts gefragt."],
  nothingFound: ["No question has these words.", "Keine Frage enthält diese Wörter."],
  ask: ["Ask a question", "Eine Frage stellen"],
  more: ["Show older ones", "Ältere zeigen"],
  forget: ["Delete", "Löschen"],
  forgetOne: [
    (question: string) => `Delete “${question}”`,
    (question: string) => `„${question}“ löschen`,
  ],
  forgetAll: ["Delete the whole history", "Den ganzen Verlauf löschen"],
  sure: [
    "Delete all your questions and their answers? Confirmed answers stay.",
    "Alle Ihre Fragen und die Antworten löschen? Bestätigte Antworten bleiben.",
  ],
  today: ["Today", "Heute"],
  yesterday: ["Yesterday", "Gestern"],
  states: [
    ["answered", "asked back", "no answer", "failed", "stopped", "under way"],
    ["beantwortet", "nachgefragt", "keine Antwort", "fehlgeschlagen", "angehalten", "läuft"],
  ],
  recent: ["Recent questions", "Letzte Fragen"],
  all: ["All questions", "Alle Fragen"],
  follows: [
    (question: string) => `After “${question}”`,
    (question: string) => `Nach „${question}“`,
  ],
});
