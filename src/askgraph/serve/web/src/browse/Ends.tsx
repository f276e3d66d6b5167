// Terms with how often they occur, in a row of links.

import type { End } from "../api/graphs.ts";
import { formatNumber } from "../i18n/index.ts";
import { visible } from "../results/texts.ts";

interface Props {
  readonly ends: readonly End[];
  /** Where a term leads; missing where it leads nowhere. */
  readonly address?: (iri: string) => string;
}

export function Ends({ ends, address }: Props) {
  return (
    <ul class="ends">
      {ends.map(({ iri, label, count }) => (
        <li key={iri} title={iri}>
          {address ? (
            <a href={address(iri)}>
              <bdi>{visible(label)}</bdi>
            </a>
          ) : (
            <bdi>{visible(label)}</bdi>
          )}{" "}
          <span class="muted small number">{formatNumber(count)}</span>
        </li>
      ))}
    </ul>
  );
}
