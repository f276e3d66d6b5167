// The taught words of a graph with their meanings; each can be removed and restored.

import { useEffect, useRef, useState } from "preact/hooks";
import { forget, taughtOf, teach } from "../api/graphs.ts";
import type { EntryView } from "../api/types.ts";
import { knownMe, may } from "../app/known.ts";
import { language } from "../i18n/index.ts";
import { useAttempt, useFetched } from "../parts/asking.ts";
import { Button, ProblemNote, QuietButton } from "../parts/parts.tsx";
import { DefineForm, kindWords } from "./DefineForm.tsx";
import { say } from "./words.ts";

const MOST = 30; // words at first

/** The list; nothing if nothing was taught, and the caller may not teach. */
export function TaughtWords({ graph }: { graph: string }) {
  useEffect(knownMe.need, []);
  const found = useFetched(`${graph} ${language.value}`, (signal) => taughtOf(graph, signal));
  const [gone, setGone] = useState<EntryView | null>(null);
  const [saved, setSaved] = useState("");
  const [form, setForm] = useState<{ entry: EntryView | null; opener: HTMLElement } | null>(null);
  const [isWhole, setWhole] = useState(false);
  const [attempt, problem] = useAttempt();
  const takeAway = (one: EntryView) =>
    attempt(async () => {
      await forget(graph, one.word);
      setGone(one);
      setSaved("");
      found.again();
    });
  const putBack = ({ word, means, same_as, query, wording, definition }: EntryView) =>
    attempt(async () => {
      const iris = means.map((one) => one.iri);
      await teach(graph, { ...wording, word, means: iris, same_as, query, definition });
      setGone(null);
      found.again();
    });
  const close = () => {
    setForm(null);
    form?.opener.focus();
  };
  const keep = (word: string) => {
    setGone(null);
    setSaved(word);
    found.again();
    close();
  };
  if (!found.value) return null;
  const { entries, instructions: told } = found.value;
  if (entries.length === 0 && !told && !gone && !may("manage")) return null;
  const opens = (entry: EntryView | null) => ({
    "aria-expanded": form !== null && form.entry?.word === entry?.word,
    onClick: (event: MouseEvent) => setForm({ entry, opener: event.currentTarget as HTMLElement }),
  });
  return (
    <section class="stack close">
      <h2 class="section-title">{say.taught}</h2>
      <div role="status">
        {gone && <Gone key={gone.word} word={gone.word} putBack={() => void putBack(gone)} />}
        {saved && <p class="muted small">{say.saved(saved)}</p>}
      </div>
      <ProblemNote problem={problem} />
      {entries.length > 0 && (
        <ul class="verified-list ruled" aria-label={say.taught}>
          {(isWhole ? entries : entries.slice(0, MOST)).map((one) => (
            <li key={one.word} class="row spread">
              <span>
                <strong dir="auto">{one.word}</strong> <Meaning entry={one} />
              </span>
              {may("manage") && (
                <span class="row">
                  <QuietButton aria-label={say.changeOne(one.word)} {...opens(one)}>
                    {say.change}
                  </QuietButton>
                  <QuietButton
                    aria-label={say.takeOne(one.word)}
                    onClick={() => void takeAway(one)}
                  >
                    {say.takeAway}
                  </QuietButton>
                </span>
              )}
            </li>
          ))}
        </ul>
      )}
      {!isWhole && entries.length > MOST && (
        <Button onClick={() => setWhole(true)} text={say.allWords(String(entries.length))} />
      )}
      {told && <p class="muted small">{say.told(told)}</p>}
      <div>{may("manage") && <Button icon="plus" {...opens(null)} text={say.define} />}</div>
      {form && (
        <DefineForm key={form.entry?.word} {...{ graph, close }} entry={form.entry} saved={keep} />
      )}
    </section>
  );
}

function Meaning({ entry }: { entry: EntryView }) {
  if (entry.query) return <code class="small">{entry.query.replace(/\s+/g, " ").trim()}</code>;
  return (
    <span class="muted">
      {entry.kind && `${kindWords(entry)}: `}
      {entry.same_as && say.sameAs(entry.same_as)}
      {entry.means.map((one, at) => (
        <span key={one.iri} title={one.iri}>
          {at > 0 && ` ${say.or} `}
          <bdi>{one.label}</bdi>
        </span>
      ))}
      {entry.description && `${entry.means.length > 0 ? ": " : ""}${entry.description}`}
    </span>
  );
}

/** The word that was removed last; its undo button takes the focus. */
function Gone({ word, putBack }: { word: string; putBack: () => void }) {
  const way = useRef<HTMLDivElement>(null);
  useEffect(() => way.current?.querySelector("button")?.focus(), []);
  return (
    <div class="row close" ref={way}>
      <span class="muted small">{say.gone(word)}</span>
      <QuietButton icon="undo" onClick={putBack} text={say.putBack} />
    </div>
  );
}
