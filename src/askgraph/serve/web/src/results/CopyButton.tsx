// A button that copies a text and says whether that worked.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Icon } from "../parts/Icon.tsx";
import { words } from "./words.ts";

interface Props {
  /** What is copied, or how to make it when the button is pressed. */
  readonly text: string | (() => string);
  readonly label: string;
  readonly children?: ComponentChildren;
}

/** Without children it is a small sign; the label is then only heard and shown on hover. */
export function CopyButton({ text, label, children }: Props) {
  const [said, setSaid] = useState("");
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(typeof text === "string" ? text : text());
      setSaid(words().copied);
    } catch {
      setSaid(words().notCopied);
    }
    setTimeout(() => setSaid(""), 2000);
  };
  return (
    <button
      type="button"
      class={children ? "button quiet small" : "button quiet icon small"}
      title={label}
      aria-label={children ? undefined : label}
      onClick={copy}
    >
      {children ? said || children : <Icon name={said ? "check" : "copy"} size={14} />}
      <span class="seen-by-readers" role="status">
        {said}
      </span>
    </button>
  );
}
