// The choice of the questions that are listed, and their order.

import { computed, signal } from "@preact/signals";
import { type Answer, gradeOf, index, mainScore, percent, type Question } from "./data.ts";

export const EVERYTHING = {
  text: "",
  benchmark: "",
  system: "",
  score: "",
  failure: "",
  status: "",
  tag: "",
  order: "given",
  down: "",
};

/** The fields of the form; "" chooses all. */
type Choice = typeof EVERYTHING;

/** A question with those of its answers that fit the choice. */
export interface Listed {
  readonly question: Question;
  readonly answers: readonly Answer[];
}

export const natural = new Intl.Collator("en", { numeric: true });

export const choice = signal<Choice>(EVERYTHING);

/** The questions that match the choice, in its order. */
export const listed = computed<readonly Listed[]>(() => {
  const made = choice.value;
  const words = made.text.toLowerCase().split(/\s+/).filter(Boolean);
  const found = index.questions
    .filter(
      (question) =>
        (!made.benchmark || question.benchmark === made.benchmark) &&
        (!made.tag || question.tags.includes(made.tag)) &&
        words.every((word) => searchable(question).includes(word)),
    )
    .map((question) => ({ question, answers: question.answers.filter((a) => answerFits(a, made)) }))
    .filter(({ answers }) => {
      const scores = new Set(answers.map((answer) => percent(mainScore(answer))));
      return scores.size > (made.score === "differ" ? 1 : 0);
    });
  return ordered(found, made);
});

function answerFits(answer: Answer, made: Choice): boolean {
  return (
    (!made.system || index.systems[answer.system] === made.system) &&
    (!made.failure || answer.failure === made.failure) &&
    (!made.status || answer.status === made.status) &&
    (!made.score || made.score === "differ" || gradeOf(mainScore(answer)) === made.score)
  );
}

const searched = new Map<Question, string>();

function searchable(question: Question): string {
  const queries = question.answers.map((answer) => answer.sparql ?? "");
  const all = [question.id, question.text, question.gold ?? "", ...queries];
  const text = searched.get(question) ?? all.join("\n").toLowerCase();
  searched.set(question, text);
  return text;
}

const VALUES: Readonly<Record<string, (answers: readonly Answer[]) => number>> = {
  score: (all) => all.reduce((sum, answer) => sum + mainScore(answer), 0) / all.length,
  confidence: (all) => Math.max(...all.map(({ confidence }) => confidence)),
  seconds: (all) => Math.max(...all.map(({ seconds }) => seconds ?? 0)),
};

function ordered(found: readonly Listed[], { order, down }: Choice): readonly Listed[] {
  const sign = down ? -1 : 1;
  const value = VALUES[order];
  if (value) {
    const keyed = found.map((item) => ({ item, key: value(item.answers) }));
    return keyed.sort((a, b) => sign * (a.key - b.key)).map(({ item }) => item);
  }
  if (order === "id")
    return found.toSorted((a, b) => sign * natural.compare(a.question.id, b.question.id));
  return down ? found.toReversed() : found;
}
