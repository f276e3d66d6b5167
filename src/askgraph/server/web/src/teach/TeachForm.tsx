// Teaches the graph a word of a question, then asks the question again.

import { useRef, useState } from "preact/hooks";
import { complete, teach } from "../api/graphs.ts";
import type { CompletionView } from "../api/types.ts";
import { may } from "../app/known.ts";
import { graphAddress } from "../app/router.ts";
import { moveAmongOffers, useAttempt, useSought } from "../parts/asking.ts";
import { Button, Field, Form, Note, Offers, ProblemNote, SearchField } from "../parts/parts.tsx";
import { orderWords, toggleWord, wordsOf } from "./question.ts";
import { say } from "./words.ts";

interface TeachProps {
  readonly question: string;
  readonly graph: string;
  readonly unused: readonly string[];
  readonly taught: () => void;
}

/** What a word means: classes, a property or a thing, or another word. */
type Meaning = { readonly sameAs: string } | { readonly terms: readonly CompletionView[] };

const NOTHING: Meaning = { terms: [] };

export function TeachForm(props: TeachProps) {
  return may("manage") ? <Teaching {...props} /> : <Note text={say.mayNot} />;
}

function Teaching({ question, graph, unused, taught }: TeachProps) {
  const words = orderWords(question, unused);
  const odd = new Set(unused.map((word) => word.toLowerCase()));
  const [word, setWord] = useState(words.find((one) => odd.has(one.toLowerCase())) ?? "");
  const [meaning, setMeaning] = useState<Meaning>(NOTHING);
  const [attempt, problem] = useAttempt();
  const [isBusy, setBusy] = useState(false);
  const chosen = new Set(wordsOf(word));
  const isWhole = word.trim() !== "" && ("sameAs" in meaning || meaning.terms.length > 0);
  const save = async () => {
    setBusy(true);
    const same = "sameAs" in meaning && { same_as: meaning.sameAs };
    const means = "terms" in meaning && { means: meaning.terms.map((term) => term.iri) };
    const isSaved = await attempt(() => teach(graph, { word: word.trim(), ...same, ...means }));
    setBusy(false);
    if (isSaved) taught();
  };
  return (
    <Form class="teach stack near" onSend={() => isWhole && void save()}>
      <fieldset>
        <legend class="label">{say.which}</legend>
        <div class="row close">
          {words.map((one) => (
            <button
              key={one}
              type="button"
              class={`button small ${odd.has(one.toLowerCase()) ? "odd-word" : ""}`}
              aria-pressed={chosen.has(one)}
              title={odd.has(one.toLowerCase()) ? say.unused : undefined}
              onClick={() => setWord(toggleWord(question, word, one) || word)}
            >
              <bdi>{one}</bdi>
            </button>
          ))}
        </div>
      </fieldset>
      <Field label={say.word} value={word} onText={setWord} input={{ maxLength: 200 }} />
      <MeaningField graph={graph} meaning={meaning} setMeaning={setMeaning} />
      <div class="row">
        <Button look="primary" type="submit" disabled={!isWhole || isBusy} text={say.save} />
        <span class="muted small">
          {say.forAll} <a href={graphAddress(graph)}>{say.allTaught}</a>
        </span>
      </div>
      <ProblemNote problem={problem} />
    </Form>
  );
}

const KINDS = ["entity", "class", "property"];

interface MeaningProps {
  readonly graph: string;
  readonly meaning: Meaning;
  readonly setMeaning: (meaning: Meaning) => void;
}

function MeaningField({ graph, meaning, setMeaning }: MeaningProps) {
  const [sought, setSought] = useState("");
  const panel = useRef<HTMLDivElement>(null);
  const found = useSought(sought, graph, (q, signal) => complete(graph, q, signal));
  const terms = "terms" in meaning ? meaning.terms : [];
  const { q } = found;
  const isSettled = q !== "" && found.isSettled;
  const take = (next: Meaning) => {
    setMeaning(next);
    setSought("");
    panel.current?.querySelector("input")?.focus();
  };
  const add = (one: CompletionView) => {
    const goTogether = one.kind === "class" && terms.every((term) => term.kind === "class");
    take({ terms: goTogether ? [...terms, one] : [one] });
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: keys of the field and of what it found
    <div class="stack close" ref={panel} onKeyDown={(event) => moveAmongOffers(event, isSettled)}>
      <div>
        <span class="label">{say.means}</span>
        <SearchField label={say.search} value={sought} onText={setSought} />
      </div>
      <Meant meaning={meaning} setMeaning={setMeaning} />
      {terms[0]?.kind === "class" && sought === "" && <span class="muted small">{say.more}</span>}
      {sought.trim() !== "" && (
        <Offers
          label={say.found}
          offers={[
            ...(found.value?.completions ?? [])
              .filter((one) => !terms.some((term) => term.iri === one.iri))
              .map((one) => ({
                name: one.label,
                hint: one.of || say.kinds[KINDS.indexOf(one.kind)],
                title: one.iri,
                take: () => add(one),
              })),
            ...(isSettled ? [{ name: say.sameAs(q), take: () => take({ sameAs: q }) }] : []),
          ]}
        />
      )}
    </div>
  );
}

/** The chosen meanings, each with a button to remove it. */
function Meant({ meaning, setMeaning }: Omit<MeaningProps, "graph">) {
  const terms = "terms" in meaning ? meaning.terms : [];
  const others = (term: CompletionView) => ({ terms: terms.filter((one) => one !== term) });
  const chips =
    "sameAs" in meaning
      ? [{ name: say.sameAs(meaning.sameAs), rest: NOTHING }]
      : terms.map((term) => ({ name: term.label, rest: others(term) }));
  if (chips.length === 0) return null;
  return (
    <ul class="row close meant">
      {chips.map(({ name, rest }, at) => (
        <li key={name} class="row close">
          {at > 0 && <span class="muted small">{say.or}</span>}
          <span class="chip">
            <bdi>{name}</bdi>
            <Button
              look="quiet icon small"
              icon="cross"
              label={say.without(name)}
              onClick={() => setMeaning(rest)}
            />
          </span>
        </li>
      ))}
    </ul>
  );
}
