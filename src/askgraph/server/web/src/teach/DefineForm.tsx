// The form that defines a word of a graph, or changes what it means.

import { useEffect, useRef, useState } from "preact/hooks";
import { teach } from "../api/graphs.ts";
import type { EntryBody, EntryView } from "../api/types.ts";
import { texts as translated } from "../i18n/index.ts";
import { useAttempt } from "../parts/asking.ts";
import { Button, Field, Form, ProblemNote, Select } from "../parts/parts.tsx";
import words from "./fields.json";
import { say } from "./words.ts";

/** The keys of each kind of entry besides its description; `say.defined` has their words. */
const KINDS: Readonly<Record<string, readonly string[]>> = {
  meaning: ["means"],
  synonym: ["same_as"],
  condition: ["of", "pattern"],
  measure: ["of", "pattern", "value", "aggregate", "unit"],
  filter: ["of", "pattern", "unless", "default"],
  rows: ["of", "order", "limit"],
  hidden: ["means", "hidden"],
  question: ["query"],
};

/** The keys that have a field, with their labels; some have an example. */
const FIELDS: Readonly<Record<string, string>> = translated("teach/fields", words);
const EXAMPLES: Readonly<Record<string, string>> = {
  means: "planet, moon",
  pattern: "?this ont:diameter ?d FILTER(?d > 1000)",
  value: "3.1416 * ?d * ?d",
  order: "-ont:diameter",
};
const OPTIONAL = ["unit", "unless", "order", "limit", "description"];
const AGGREGATES = ["", "sum", "average", "minimum", "maximum"];

interface DefineProps {
  readonly graph: string;
  /** The entry to change; null for a new one. */
  readonly entry: EntryView | null;
  readonly saved: (word: string) => void;
  readonly close: () => void;
}

/** The form; its first field takes the focus. */
export function DefineForm({ graph, entry, saved, close }: DefineProps) {
  const [word, setWord] = useState(entry?.word ?? "");
  const [kind, setKind] = useState(entry ? kindOf(entry) : "meaning");
  const [texts, setTexts] = useState<Readonly<Record<string, string>>>({}); // what was typed
  const [attempt, problem] = useAttempt();
  const form = useRef<HTMLDivElement>(null);
  useEffect(() => form.current?.querySelector("input")?.focus(), []);
  const before: Readonly<Record<string, unknown>> = entry ? valuesOf(entry) : {};
  const textOf = (key: string) => texts[key] ?? [before[key] ?? ""].flat().join(", ");
  const toValue = (key: string) => {
    if (!(key in FIELDS)) return true;
    if (key === "limit") return Number(textOf(key));
    if (key !== "means" && key !== "unless") return textOf(key).trim();
    return texts[key]?.split(/\s*,\s*/).filter(Boolean) ?? before[key];
  };
  const save = async () => {
    const shown = entry ? keysOf(kindOf(entry)) : [];
    const kept = Object.entries(entry?.definition ?? {}).filter(([key]) => !shown.includes(key));
    const told = keysOf(kind).map((key) => [key, toValue(key)]);
    const values: Partial<EntryBody> = Object.fromEntries([...kept, ...told]);
    const { means = [], same_as = "", query = "", ...definition } = values;
    const wording = means.length === 1 ? entry?.wording : {}; // one of a single meaning
    const body = { ...wording, word: word.trim(), means, same_as, query, definition };
    if (await attempt(() => teach(graph, body))) saved(body.word);
  };
  const options = AGGREGATES.map((one, at) => [one, say.aggregates[at] ?? one] as const);
  return (
    <div class="card" ref={form}>
      <Form class="stack near measure" aria-label={say.define} onSend={() => void save()}>
        <Field
          label={say.word}
          value={word}
          onText={setWord}
          input={{ maxLength: 200, required: true, readOnly: entry !== null }}
        />
        <Select
          label={say.kind}
          value={kind}
          options={Object.keys(KINDS).map((one, at) => [one, say.defined[at] ?? one])}
          onChoose={setKind}
        />
        {keysOf(kind).map((key) => {
          const onText = (text: string) => setTexts({ ...texts, [key]: text });
          const shown = { label: FIELDS[key] ?? "", onText, value: textOf(key) };
          const type = key === "limit" && ({ type: "number", min: 1 } as const);
          const input = { placeholder: EXAMPLES[key], required: !OPTIONAL.includes(key), ...type };
          if (key === "aggregate")
            return <Select key={key} {...shown} options={options} onChoose={onText} />;
          const isLong = ["pattern", "query", "description"].includes(key);
          return key in FIELDS && <Field key={key} {...shown} long={isLong} input={input} />;
        })}
        <div class="row">
          <Button look="primary" type="submit" text={say.keep} />
          <Button look="quiet" onClick={close} text={say.cancel} />
          <span class="muted small">{say.forAll}</span>
        </div>
        <ProblemNote problem={problem} />
      </Form>
    </div>
  );
}

/** Returns what an entry is, in words. */
export function kindWords(entry: EntryView): string {
  return say.defined[Object.keys(KINDS).indexOf(kindOf(entry))] ?? "";
}

function kindOf({ kind, query, same_as }: EntryView): string {
  return kind || (query ? "question" : same_as ? "synonym" : "meaning");
}

function keysOf(kind: string): readonly string[] {
  return [...(KINDS[kind] ?? []), "description"];
}

function valuesOf({ means, same_as, query, definition }: EntryView) {
  return { ...definition, means: means.map((one) => one.iri), same_as, query };
}
