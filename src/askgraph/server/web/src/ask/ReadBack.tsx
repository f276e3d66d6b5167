// The query in words, with parts that can be changed in the sentence.

import { useEffect, useRef, useState } from "preact/hooks";
import { parts as partsOf, search, swap } from "../api/graphs.ts";
import type { AlternativeView, AnswerView, PartsView, PartView, PieceView } from "../api/types.ts";
import { useAttempt, useFetched, useSettled } from "../parts/asking.ts";
import { among } from "../parts/offers.ts";
import { Popover } from "../parts/Popover.tsx";
import { Button, Field, Form, ProblemNote, SearchField } from "../parts/parts.tsx";
import { say } from "./words.ts";

interface ReadBackProps {
  readonly answer: AnswerView;
  readonly graph: string;
  readonly question: string;
  readonly language: string;
  readonly run: (query: string) => Promise<void>;
  /** Hears how the query arranges its rows. */
  readonly onRead: (query: string, parts: PartsView) => void;
}

export function ReadBack(props: ReadBackProps) {
  const { answer, graph } = props;
  const [attempt, problem] = useAttempt();
  const read = useReading(props);
  const parts = read.parts;
  const section = useRef<HTMLDivElement>(null);
  const change = (part: PartView, to: string) =>
    attempt(async () => {
      const next = await swap(graph, answer.sparql ?? "", part.id, to, read.language);
      await props.run(next.query);
      section.current?.focus({ preventScroll: true }); // the part that had the focus is gone
    });
  if (!answer.words && !parts) return null;
  const said = textOf(parts);
  const more = answer.words.startsWith(said) ? answer.words.slice(said.length) : "";
  const pieces: readonly PieceView[] = [...(parts?.pieces ?? []), { text: more }];
  return (
    <div
      class="read-back stack close"
      ref={section}
      tabIndex={-1}
      role="group"
      aria-label={say.readAs}
    >
      <p class="read-back-words measure serif large broken" dir="auto">
        <span class="faint">{say.readAs}</span>{" "}
        {pieces.map((piece, at) => {
          const part = parts?.parts.find((one) => one.id === piece.part);
          return part ? (
            <PartMenu
              key={at}
              text={piece.text}
              part={part}
              graph={graph}
              isLooking={!read.isWhole}
              look={read.look}
              change={(to) => void change(part, to)}
            />
          ) : (
            <span key={at}>{piece.text}</span>
          );
        })}
      </p>
      <ProblemNote problem={problem} />
    </div>
  );
}

/** The languages that queries are read back in. */
const SPOKEN = ["en", "de", "es", "fr"];

/** The parts of the query that is shown, and with `look`, alternatives to each of them. */
function useReading({ answer, graph, language, question, onRead }: ReadBackProps) {
  const query = answer.sparql ?? "";
  const asked = { query, question };
  const [looked, look] = useState("");
  // If it fails, the sentence is read, and not changed.
  const read = useFetched(`${graph} ${query}`, async () =>
    query ? readLike(graph, asked, answer.words, [language, ...SPOKEN]) : null,
  );
  const now = read.value?.query === query ? read.value : null;
  useEffect(() => {
    if (now) onRead(now.query, now.parts);
  }, [now]);
  const spoken = now?.language ?? language;
  const more = useFetched(`${graph} ${looked}`, async () => {
    if (!looked) return null;
    const wanted = { ...asked, query: looked, language: spoken, alternatives: true };
    // If it fails, the graph can still be searched.
    return { of: looked, parts: await partsOf(graph, wanted).catch(() => null) };
  });
  const whole = now && more.value?.of === query ? more.value : null;
  return {
    parts: whole?.parts ?? now?.parts ?? null,
    language: spoken,
    isWhole: whole !== null,
    look: () => look(query),
  };
}

interface Read {
  readonly query: string;
  readonly language: string;
  readonly parts: PartsView;
}

/** The parts in the language in which the query was read back; else in the first one. */
async function readLike(
  graph: string,
  asked: { readonly query: string; readonly question: string },
  words: string,
  languages: readonly string[],
): Promise<Read> {
  let first: Read | null = null;
  for (const language of new Set(languages)) {
    const parts = await partsOf(graph, { ...asked, language, alternatives: false });
    const read = { query: asked.query, language, parts };
    if (words.startsWith(textOf(parts))) return read; // words that were taught are behind it
    first ??= read;
  }
  return first ?? Promise.reject(new Error("no language to read it in"));
}

function textOf(parts: PartsView | null): string {
  return (parts?.pieces ?? []).map((piece) => piece.text).join("");
}

// A part of the sentence, as a button that opens its alternatives.

interface PartMenuProps {
  readonly text: string;
  readonly part: PartView;
  readonly graph: string;
  /** Whether alternatives are still to come. */
  readonly isLooking: boolean;
  /** Looks for alternatives, which then come with the part. */
  readonly look: () => void;
  readonly change: (to: string) => void;
}

const SEARCHED = { entity: "entity", class: "class", predicate: "property" } as const;
const PAUSE = 150;
const MOST = 8;

function PartMenu({ text, part, graph, isLooking, look, change }: PartMenuProps) {
  return (
    <Popover
      class={`part ${part.kind}`}
      panelClass="part-panel"
      title={say.partIs(part.label)}
      onOpen={look}
      label={text}
    >
      {(close) => {
        const take = (to: string) => {
          close();
          change(to);
        };
        return part.kind === "value" ? (
          <ValueChoice part={part} take={take} />
        ) : (
          <NameChoice
            part={part}
            kind={SEARCHED[part.kind]}
            graph={graph}
            isLooking={isLooking}
            take={take}
          />
        );
      }}
    </Popover>
  );
}

interface ChoiceProps {
  readonly part: PartView;
  readonly take: (to: string) => void;
}

function ValueChoice({ part, take }: ChoiceProps) {
  const [value, setValue] = useState(part.value ?? "");
  return (
    <>
      {part.alternatives.length > 0 && (
        <Alternatives found={part.alternatives} take={take} title={say.instead} />
      )}
      <Form class="stack close" onSend={() => value.trim() && take(value.trim())}>
        <Field
          label={say.otherValue}
          value={value}
          onText={setValue}
          input={{ "data-first": true }}
        />
        <Button look="primary small" type="submit" disabled={!value.trim()}>
          {say.use}
        </Button>
      </Form>
    </>
  );
}

interface NameChoiceProps extends ChoiceProps {
  readonly kind: string;
  readonly graph: string;
  readonly isLooking: boolean;
}

function NameChoice({ part, kind, graph, isLooking, take }: NameChoiceProps) {
  const [sought, setSought] = useState("");
  const hits = useHits(graph, kind, sought);
  const found = hits ? byCloseness(hits, sought) : part.alternatives;
  const panel = useRef<HTMLDivElement>(null);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: keys of the field and of what it found
    <div ref={panel} onKeyDown={(event) => among(panel.current, event, { enters: hits !== null })}>
      <SearchField label={say.searchOther} value={sought} onText={setSought} />
      {found.length > 0 && <Alternatives found={found} take={take} title={say.instead} />}
      {found.length === 0 && (
        <p class="muted small" role="status">
          {isLooking ? <span class="spinner" /> : say.noAlternatives}
        </p>
      )}
    </div>
  );
}

/** The names that are what is sought first, then those that begin with it. */
function byCloseness(
  found: readonly AlternativeView[],
  sought: string,
): readonly AlternativeView[] {
  const wanted = sought.trim().toLowerCase();
  const away = ({ label }: AlternativeView) => {
    const name = label.toLowerCase();
    return name === wanted ? 0 : name.startsWith(wanted) ? 1 : 2;
  };
  return [...found].sort((one, other) => away(one) - away(other));
}

interface AlternativesProps {
  readonly found: readonly AlternativeView[];
  readonly take: (to: string) => void;
  readonly title: string;
}

function Alternatives({ found, take, title }: AlternativesProps) {
  return (
    <ul class="alternatives" aria-label={title}>
      {found.map((one) => {
        const to = one.iri ?? one.value ?? "";
        return (
          <li key={to}>
            <button type="button" class="pick alternative" title={to} onClick={() => take(to)}>
              <span class="row one-line spread">
                <bdi>{one.label || to}</bdi>
                {typeof one.rows === "number" && (
                  <span class="muted small">{say.rows(one.rows)}</span>
                )}
              </span>
              {one.description && <bdi class="alternative-more">{one.description}</bdi>}
            </button>
          </li>
        );
      })}
    </ul>
  );
}

/** Returns the graph's terms of a name; null while nothing is sought. */
function useHits(graph: string, kind: string, sought: string): readonly AlternativeView[] | null {
  const q = useSettled(sought.trim(), PAUSE);
  const found = useFetched(`${graph} ${kind} ${q}`, async (signal) =>
    q.length < 2 ? null : (await search(graph, { q, kind, limit: MOST }, signal)).hits,
  );
  return sought.trim().length < 2 ? null : found.value;
}
