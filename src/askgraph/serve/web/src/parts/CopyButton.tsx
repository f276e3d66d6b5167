// Copies a text, and says so.

import { useEffect, useState } from "preact/hooks";
import { texts } from "../i18n/index.ts";
import { Icon } from "./Icon.tsx";

const words = texts(
  { copy: "Copy", copied: "Copied", failed: "The browser did not allow it" },
  { copy: "Kopieren", copied: "Kopiert", failed: "Der Browser hat es nicht erlaubt" },
);

export interface CopyButtonProps {
  readonly text: string;
  readonly label?: string;
  readonly class?: string;
}

export function CopyButton({ text, label, ...classes }: CopyButtonProps) {
  const say = words();
  const [state, setState] = useState<"" | "copied" | "failed">("");
  useEffect(() => {
    if (!state) return;
    const timer = setTimeout(() => setState(""), 2500);
    return () => clearTimeout(timer);
  }, [state]);
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => setState("copied"),
      () => setState("failed"),
    );
  return (
    <button type="button" class={classes.class ?? "button small"} onClick={() => void copy()}>
      <Icon name={state === "copied" ? "check" : "copy"} />
      <span role="status">{state ? say[state] : (label ?? say.copy)}</span>
    </button>
  );
}
