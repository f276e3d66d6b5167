// The taught words of a graph with their meanings; each can be removed and restored.

import { useEffect, useRef, useState } from "preact/hooks";
import { forget, taughtOf, teach } from "../api/graphs.ts";
import type { EntryView } from "../api/types.ts";
import { knownMe, may } from "../app/known.ts";
import { language } from "../i18n/index.ts";
import { useAttempt, useFetched } from "../parts/asking.ts";
import { Button, ProblemNote } from "../parts/parts.tsx";
import { say } from "./words.ts";

const MOST = 30; // words at first
const KINDS = ["measure", "condition", "filter", "rows", "hidden"];

/** The list; nothing if nothing was taught. */
export function TaughtWords({ graph }: { graph: string }) {
  useEffect(knownMe.need, []);
  const found = useFetched(`${graph} ${language.value}`, (signal) => taughtOf(graph, signal));
  const [gone, setGone] = useState<EntryView | null>(null);
  const [isWhole, setWhole] = useState(false);
  const [attempt, problem] = useAttempt();
  const takeAway = (one: EntryView) =>
    attempt(async () => {
      await forget(graph, one.word);
      setGone(one);
      found.again();
    });
  const putBack = ({ word, means, same_as, query, wording, definition }: EntryView) =>
    attempt(async () => {
      const iris = means.map((one) => one.iri);
      const meaning = { word, means: iris, same_as: same_as || null, query: query || null };
      await teach(graph, { ...wording, ...meaning, definition });
      setGone(null);
      found.again();
    });
  const entries = found.value?.entries ?? [];
  const told = found.value?.instructions ?? "";
  if (entries.length === 0 && !told && !gone) return null;
  return (
    <section class="stack close">
      <h2 class="section-title">{say.taught}</h2>
      <div role="status">{gone && <Gone key={gone.word} entry={gone} putBack={putBack} />}</div>
      <ProblemNote problem={problem} />
      <ul class="verified-list ruled" aria-label={say.taught}>
        {(isWhole ? entries : entries.slice(0, MOST)).map((one) => (
          <li key={one.word} class="row spread">
            <span>
              <strong>
                <bdi>{one.word}</bdi>
              </strong>{" "}
              <Meaning entry={one} />
            </span>
            {may("manage") && (
              <Button
                look="quiet small"
                aria-label={say.takeOne(one.word)}
                onClick={() => void takeAway(one)}
              >
                {say.takeAway}
              </Button>
            )}
          </li>
        ))}
      </ul>
      {!isWhole && entries.length > MOST && (
        <Button onClick={() => setWhole(true)}>{say.allWords(String(entries.length))}</Button>
      )}
      {told && <p class="muted small">{say.told(told)}</p>}
    </section>
  );
}

function Meaning({ entry }: { entry: EntryView }) {
  if (entry.query) return <code class="small">{entry.query.replace(/\s+/g, " ").trim()}</code>;
  if (entry.kind || entry.description) {
    const names = entry.means.map((one) => one.label).join(` ${say.or} `);
    const text = [names, entry.description].filter(Boolean).join(": ");
    const kind = say.defined[KINDS.indexOf(entry.kind)];
    return <span class="muted">{kind ? `${kind}: ${text}` : text}</span>;
  }
  if (entry.same_as) return <span class="muted">{say.sameAs(entry.same_as)}</span>;
  return (
    <span class="muted">
      {entry.means.map((one, at) => (
        <span key={one.iri} title={one.iri}>
          {at > 0 && ` ${say.or} `}
          <bdi>{one.label}</bdi>
        </span>
      ))}
    </span>
  );
}

/** The word that was removed last; its undo button takes the focus. */
function Gone({
  entry,
  putBack,
}: {
  entry: EntryView;
  putBack: (entry: EntryView) => Promise<boolean>;
}) {
  const way = useRef<HTMLDivElement>(null);
  useEffect(() => way.current?.querySelector("button")?.focus(), []);
  return (
    <div class="row close" ref={way}>
      <span class="muted small">{say.gone(entry.word)}</span>
      <Button look="quiet small" icon="undo" onClick={() => void putBack(entry)}>
        {say.putBack}
      </Button>
    </div>
  );
}
