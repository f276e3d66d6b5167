// The IRI of what a page shows, to copy and to open where it comes from.

import { CopyButton } from "../parts/CopyButton.tsx";
import { Icon } from "../parts/Icon.tsx";
import { visible } from "../results/texts.ts";
import { linkOf } from "../results/values.ts";
import { words } from "./words.ts";

export function IriLine({ iri }: { iri: string }) {
  const say = words();
  const link = linkOf(iri);
  return (
    <p class="iri-line">
      <bdi class="iri muted">{visible(iri)}</bdi>
      <CopyButton text={iri} label={say.copyIri} isSmall />
      {link && (
        <a
          class="button quiet icon small"
          href={link}
          target="_blank"
          rel="noopener noreferrer nofollow"
          aria-label={say.open}
          title={say.open}
        >
          <Icon name="out" size={14} />
        </a>
      )}
    </p>
  );
}
