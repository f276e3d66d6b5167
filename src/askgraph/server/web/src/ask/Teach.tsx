// What a word of the question means, to be taught to the graph; loaded when it is unfolded.

import { useEffect, useRef, useState } from "preact/hooks";
import type { AnswerView, Step } from "../api/types.ts";
import { Later } from "../app/Later.tsx";
import { say } from "./words.ts";

const form = () => import("../teach/TeachForm.tsx").then((found) => found.TeachForm);

interface TeachProps {
  readonly question: string;
  readonly graph: string;
  readonly unused: readonly string[];
  /** How often the answer was said to be wrong. */
  readonly wanted: number;
  readonly taught: () => void;
}

export function Teach({ wanted, ...props }: TeachProps) {
  const [isOpen, setOpen] = useState(false);
  const fold = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    if (wanted && fold.current) fold.current.open = true;
  }, [wanted]);
  return (
    <details class="fold" ref={fold} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <span>{say.teach}</span>
      </summary>
      {isOpen && <Later load={form} props={props} />}
    </details>
  );
}

/** The words of a question that its answer leaves out, or that were not understood. */
export function unusedIn(answer: AnswerView, steps: readonly Step[]): readonly string[] {
  const found = steps.filter((step) => step.step === "findings");
  const words = answer.unused_words.length > 0 ? [answer.unused_words] : [];
  return [...words, ...found.map((step) => step.unused_words)][0] ?? [];
}
