// Copies a text, and says so.

import { useEffect, useState } from "preact/hooks";
import { texts } from "../i18n/index.ts";
import { Icon } from "./Icon.tsx";

const words = texts(
  { copy: "Copy", copied: "Copied", failed: "The browser did not allow it" },
  { copy: "Kopieren", copied: "Kopiert", failed: "Der Browser hat es nicht erlaubt" },
);

interface CopyButtonProps {
  /** What is copied, or how to make it when the button is pressed. */
  readonly text: string | (() => string);
  readonly label?: string;
  /** What the button does, where the label does not say it in full. */
  readonly title?: string;
  readonly class?: string;
  /** Whether the label is only heard. */
  readonly isSmall?: boolean;
}

export function CopyButton({ text, label, title, isSmall = false, ...classes }: CopyButtonProps) {
  const say = words();
  const [state, setState] = useState<"" | "copied" | "failed">("");
  useEffect(() => {
    if (!state) return;
    const timer = setTimeout(() => setState(""), 2500);
    return () => clearTimeout(timer);
  }, [state]);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(typeof text === "string" ? text : text());
      setState("copied");
    } catch {
      setState("failed"); // also where there is no clipboard, as without TLS
    }
  };
  const usual = isSmall ? "button quiet icon small" : "button small";
  return (
    <>
      <button
        type="button"
        class={classes.class ?? usual}
        title={title ?? (isSmall ? label : undefined)}
        onClick={() => void copy()}
      >
        <Icon name={state === "copied" ? "check" : "copy"} size={isSmall ? 14 : 16} />
        <span class={isSmall ? "seen-by-readers" : undefined}>
          {state ? say[state] : (label ?? say.copy)}
        </span>
      </button>
      <span class="seen-by-readers" role="status">
        {state && say[state]}
      </span>
    </>
  );
}
