// A part of the sentence, as a button that opens what could stand in its place.

import { useEffect, useState } from "preact/hooks";
import { searchNames } from "../api/graphs.ts";
import type { Alternative, Part } from "../api/types.ts";
import { Popover } from "../parts/Popover.tsx";
import { words } from "./words.ts";

export interface PartMenuProps {
  readonly text: string;
  readonly part: Part;
  readonly graph: string;
  /** Whether alternatives are still to come. */
  readonly isLooking: boolean;
  /** Looks for alternatives, which then come with the part. */
  readonly look: () => void;
  readonly change: (to: string) => void;
}

const SEARCHED = { entity: "entity", class: "class", predicate: "property" } as const;
const PAUSE = 150;

export function PartMenu({ text, part, graph, isLooking, look, change }: PartMenuProps) {
  const say = words();
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
  readonly part: Part;
  readonly take: (to: string) => void;
}

function ValueChoice({ part, take }: ChoiceProps) {
  const say = words();
  const [value, setValue] = useState(part.value ?? "");
  return (
    <>
      {part.alternatives.length > 0 && (
        <Alternatives found={part.alternatives} take={take} title={say.instead} />
      )}
      <form
        class="part-value"
        onSubmit={(event) => {
          event.preventDefault();
          if (value.trim()) take(value.trim());
        }}
      >
        <label>
          <span class="label">{say.otherValue}</span>
          <input
            class="field"
            data-first
            value={value}
            onInput={(event) => setValue(event.currentTarget.value)}
          />
        </label>
        <button type="submit" class="button primary small" disabled={!value.trim()}>
          {say.use}
        </button>
      </form>
    </>
  );
}

interface NameChoiceProps extends ChoiceProps {
  readonly kind: string;
  readonly graph: string;
  readonly isLooking: boolean;
}

function NameChoice({ part, kind, graph, isLooking, take }: NameChoiceProps) {
  const say = words();
  const [sought, setSought] = useState("");
  const hits = useHits(graph, kind, sought);
  const found = hits ?? part.alternatives;
  return (
    <>
      <input
        class="field"
        type="search"
        aria-label={say.searchOther}
        placeholder={say.searchOther}
        value={sought}
        onInput={(event) => setSought(event.currentTarget.value)}
      />
      {found.length > 0 && <Alternatives found={found} take={take} title={say.instead} />}
      {found.length === 0 && (
        <p class="muted small part-none" role="status">
          {isLooking ? <span class="spinner" /> : say.noAlternatives}
        </p>
      )}
    </>
  );
}

interface AlternativesProps {
  readonly found: readonly Alternative[];
  readonly take: (to: string) => void;
  readonly title: string;
}

function Alternatives({ found, take, title }: AlternativesProps) {
  const say = words();
  return (
    <ul class="alternatives" aria-label={title}>
      {found.map((one) => {
        const to = one.iri ?? one.value ?? "";
        return (
          <li key={to}>
            <button type="button" class="alternative" title={to} onClick={() => take(to)}>
              <span class="alternative-name">
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

/** What the graph has by a name; null while nothing is sought. */
function useHits(graph: string, kind: string, sought: string): readonly Alternative[] | null {
  const [hits, setHits] = useState<readonly Alternative[] | null>(null);
  useEffect(() => {
    if (sought.trim().length < 2) {
      setHits(null);
      return;
    }
    const leaving = new AbortController();
    const timer = setTimeout(() => {
      searchNames(graph, sought.trim(), kind, { signal: leaving.signal }).then(
        (found) => setHits(found.hits),
        () => undefined, // typing on asks again
      );
    }, PAUSE);
    return () => {
      clearTimeout(timer);
      leaving.abort();
    };
  }, [graph, kind, sought]);
  return hits;
}
