// The names that complete a question, as a listbox below it.

import type { Completion } from "../api/types.ts";
import { words } from "./words.ts";

export interface SuggestionListProps {
  readonly id: string;
  readonly found: readonly Completion[];
  readonly at: number;
  readonly take: (completion: Completion) => void;
}

const KINDS: Readonly<Record<string, number>> = { entity: 0, class: 1, property: 2, predicate: 2 };

export function SuggestionList({ id, found, at, take }: SuggestionListProps) {
  const say = words();
  return (
    <div id={id} class="suggestions" role="listbox" aria-label={say.suggestions}>
      {found.map((one, position) => (
        <div
          key={`${one.iri} ${one.text}`}
          id={`${id}-${position}`}
          class="suggestion"
          role="option"
          tabIndex={-1}
          aria-selected={position === at}
          onPointerDown={(event) => {
            event.preventDefault();
            take(one);
          }}
        >
          <bdi>{one.text}</bdi>
          <span class="suggestion-kind">
            {one.label !== one.text && <bdi>{one.label} · </bdi>}
            {say.kinds[KINDS[one.kind] ?? 3]}
          </span>
        </div>
      ))}
    </div>
  );
}
