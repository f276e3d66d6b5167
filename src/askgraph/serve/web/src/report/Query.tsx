// A query in colours, its prefixes folded away, and the lines marked that the other query lacks.

import { type Token, tokenLines } from "../editor/sparql.ts";
import { CopyButton } from "../parts/CopyButton.tsx";
import { counted } from "./data.ts";
import { isPrologue } from "./lines.ts";

export interface Marked {
  readonly lines: ReadonlySet<number>;
  /** What is said of these lines. */
  readonly why: string;
}

interface Props {
  readonly query: string;
  readonly marked?: Marked;
}

export function Query({ query, marked }: Props) {
  const lines = tokenLines(query);
  const start = query.split("\n").findIndex((line) => !isPrologue(line));
  return (
    <div class="query">
      {start > 0 && (
        <details class="prologue">
          <summary>{counted(start, "prefix line")}</summary>
          <pre>
            {lines.slice(0, start).map((line, at) => (
              <Line key={at} tokens={line} />
            ))}
          </pre>
        </details>
      )}
      <pre>
        <code>
          {lines.slice(Math.max(0, start)).map((line, at) => (
            <Line
              key={at}
              tokens={line}
              why={marked?.lines.has(at + Math.max(0, start)) ? marked.why : undefined}
            />
          ))}
        </code>
      </pre>
    </div>
  );
}

/** The query as it is shown, with a button that copies it as it was written. */
export function QueryCard({ written, ...shown }: Props & { written: string }) {
  return (
    <div class="query-card">
      <CopyButton text={written} class="button quiet small" />
      <Query {...shown} />
    </div>
  );
}

function Line({ tokens, why }: { tokens: readonly Token[]; why?: string | undefined }) {
  const Tag = why === undefined ? "span" : "mark";
  return (
    <>
      <Tag class="query-line" title={why}>
        {tokens.map(({ kind, text }, at) =>
          kind ? (
            <span key={at} class={`t-${kind}`}>
              {text}
            </span>
          ) : (
            text
          ),
        )}
      </Tag>
      {"\n"}
    </>
  );
}
