// The query in words, with parts that can be changed in the sentence.

import { useEffect, useRef, useState } from "preact/hooks";
import { parts as partsOf, type Refinement, refine, search, swap } from "../api/graphs.ts";
import type { AlternativeView, AnswerView, PartsView, PartView, PieceView } from "../api/types.ts";
import { may } from "../app/known.ts";
import { Later } from "../app/Later.tsx";
import { moveAmongOffers, useAttempt, useFetched, useSought } from "../parts/asking.ts";
import { PlusMenu, Popover } from "../parts/Popover.tsx";
import type { Offer } from "../parts/parts.tsx";
import { Button, Field, Form, Offers, ProblemNote, SearchField } from "../parts/parts.tsx";
import { say } from "./words.ts";

/** Loads the panel of what can be added to a reading. */
export const extending = () => import("../results/ResultView.tsx").then((found) => found.Adding);

interface ReadBackProps {
  readonly answer: AnswerView;
  readonly graph: string;
  readonly question: string;
  readonly language: string;
  readonly run: (query: string) => Promise<void>;
  /** Called with how the query arranges its rows. */
  readonly onRead: (query: string, parts: PartsView) => void;
}

export function ReadBack(props: ReadBackProps) {
  const { answer, graph } = props;
  const [attempt, problem] = useAttempt();
  const read = useReading(props);
  const parts = read.parts;
  const section = useRef<HTMLDivElement>(null);
  const query = answer.sparql ?? "";
  const arrangement = may("query") && answer.total > 0 && parts?.arrangement;
  const run = (next: Promise<{ readonly query: string }>) =>
    void attempt(async () => {
      await props.run((await next).query);
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
          if (!part) return <span key={at}>{piece.text}</span>;
          return (
            <Popover
              key={at}
              class={`part ${part.kind}`}
              iri={part.iri ?? part.value ?? ""}
              panelClass="part-panel"
              title={say.partIs(part.label)}
              onOpen={read.look}
              label={piece.text}
            >
              {(close) => {
                const take = (to: string) => {
                  close();
                  run(swap(graph, query, part.id, to, props.language));
                };
                const Choice = part.kind === "value" ? ValueChoice : NameChoice;
                return <Choice {...{ part, graph, take }} isLooking={!read.isWhole} />;
              }}
            </Popover>
          );
        })}
        {arrangement && (
          <PlusMenu title={say.add}>
            {(close) => {
              const add = (wanted: Refinement) => {
                close();
                run(refine(graph, query, wanted, props.language));
              };
              return <Later load={extending} props={{ answer, graph, arrangement, add }} />;
            }}
          </PlusMenu>
        )}
      </p>
      <ProblemNote problem={problem} />
    </div>
  );
}

/** The parts of the query that is shown, and with `look`, alternatives to each of them. */
function useReading({ answer, graph, language, question, onRead }: ReadBackProps) {
  const query = answer.sparql ?? "";
  const [looked, look] = useState("");
  const read = (of: string, alternatives: boolean) => async () =>
    of
      ? { of, parts: await partsOf(graph, { query: of, question, language, alternatives }) }
      : null;
  // On failure the sentence is shown but cannot be changed, or the graph can still be searched.
  const quick = useFetched(`${graph} ${query}`, read(query, false));
  const full = useFetched(`${graph} ${looked}`, read(looked, true));
  const parts = [full, quick].find(({ value }) => value?.of === query)?.value?.parts ?? null;
  useEffect(() => {
    if (parts) onRead(query, parts);
  }, [parts]);
  const isWhole = full.value?.of === query || full.problem !== null;
  return { parts, isWhole, look: () => look(query) };
}

function textOf(parts: PartsView | null): string {
  return (parts?.pieces ?? []).map((piece) => piece.text).join("");
}

// The alternatives to a part of the sentence.

const SEARCHED: Readonly<Record<string, string>> = {
  ...{ entity: "entity", class: "class", predicate: "property" },
};
const MOST = 8;

interface ChoiceProps {
  readonly part: PartView;
  readonly graph: string;
  readonly isLooking: boolean;
  readonly take: (to: string) => void;
}

function offersOf(found: readonly AlternativeView[], take: (to: string) => void): Offer[] {
  return found.map(({ iri, value, label, rows, description }) => {
    const to = iri ?? value ?? "";
    return {
      name: label || to,
      hint: typeof rows === "number" && say.rows(rows),
      more: description,
      title: to,
      take: () => take(to),
    };
  });
}

function ValueChoice({ part, take }: ChoiceProps) {
  const [value, setValue] = useState(part.value ?? "");
  return (
    <>
      {part.alternatives.length > 0 && (
        <Offers offers={offersOf(part.alternatives, take)} label={say.instead} />
      )}
      <Form class="stack close" onSend={() => value.trim() && take(value.trim())}>
        <Field
          label={say.otherValue}
          value={value}
          onText={setValue}
          input={{ "data-first": true }}
        />
        <Button look="primary small" type="submit" disabled={!value.trim()} text={say.use} />
      </Form>
    </>
  );
}

function NameChoice({ part, graph, isLooking, take }: ChoiceProps) {
  const [sought, setSought] = useState("");
  const kind = SEARCHED[part.kind] ?? "";
  const { value: hits } = useSought(sought, `${graph} ${kind}`, async (q, signal) =>
    orderByCloseness((await search(graph, { q, kind, limit: MOST }, signal)).hits, q),
  );
  const found = hits ?? part.alternatives;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: keys of the field and of what it found
    <div onKeyDown={(event) => moveAmongOffers(event, hits !== null)}>
      <SearchField label={say.searchOther} value={sought} onText={setSought} />
      {found.length > 0 && <Offers offers={offersOf(found, take)} label={say.instead} />}
      {found.length === 0 && (
        <p class="muted small" role="status">
          {isLooking ? <span class="spinner" /> : say.noAlternatives}
        </p>
      )}
    </div>
  );
}

/** Returns exact matches first, then names that begin with the text. */
function orderByCloseness(found: readonly AlternativeView[], sought: string): AlternativeView[] {
  const wanted = sought.toLowerCase();
  const away = ({ label }: AlternativeView) => {
    const name = label.toLowerCase();
    return name === wanted ? 0 : name.startsWith(wanted) ? 1 : 2;
  };
  return [...found].sort((one, other) => away(one) - away(other));
}
