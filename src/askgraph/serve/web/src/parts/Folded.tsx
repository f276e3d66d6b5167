// What is folded away under a line: a title, and something about it at the line's end.

import type { ComponentChildren } from "preact";

interface FoldedProps {
  readonly title: ComponentChildren;
  readonly more?: ComponentChildren;
  readonly open?: boolean;
  readonly children: ComponentChildren;
}

export function Folded({ title, more, open = false, children }: FoldedProps) {
  return (
    <details class="step-fold" open={open}>
      <summary>
        <bdi>{title}</bdi>
        {more && <span class="fold-more">{more}</span>}
      </summary>
      {children}
    </details>
  );
}
