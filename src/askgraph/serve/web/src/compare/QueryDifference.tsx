// A query beside another one: what both have, and what only one of them has.

import { differences } from "./differences.ts";
import { words } from "./words.ts";

const SIGNS = { same: " ", removed: "−", added: "+" } as const;

interface Props {
  readonly query: string;
  /** The query that it is compared with; null shows it alone. */
  readonly other: string | null;
  /** Whose query the other is. */
  readonly name: string;
}

export function QueryDifference({ query, other, name }: Props) {
  const say = words();
  const lines = differences(other ?? query, query);
  const isSame = lines.every(({ kind }) => kind === "same");
  return (
    <figure class="query-difference">
      {other !== null && (
        <figcaption class="muted small">
          {isSame ? say.sameQuery(name) : say.queryDiff(name)}
        </figcaption>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keys */}
      <pre tabIndex={0}>
        {lines.map(({ kind, text }, at) => (
          <span key={at} class={`query-line ${kind}`}>
            {kind !== "same" && <span class="seen-by-readers">{say[kind]}: </span>}
            <span aria-hidden="true">{SIGNS[kind]} </span>
            {text}
            {"\n"}
          </span>
        ))}
      </pre>
    </figure>
  );
}
