// How sure an answer is: in a word, a bar and what the number means.

import { sureness } from "./confidence.ts";
import { words } from "./words.ts";

export function Confidence({ value }: { value: number }) {
  const say = words();
  const percent = Math.round(value * 100);
  const word = sureness(value);
  return (
    <p class={`confidence ${word}`} title={say.confidence(percent)}>
      <span class="seen-by-readers">{say.sureness}: </span>
      <span class="confidence-word">{say[word]}</span>
      <svg class="confidence-bar" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
        <rect class="confidence-all" width="100" height="6" rx="3" />
        <rect class="confidence-part" width={Math.max(4, percent)} height="6" rx="3" />
      </svg>
      <span class="number muted small" aria-hidden="true">
        {percent} %
      </span>
      <span class="seen-by-readers">{say.confidence(percent)}</span>
    </p>
  );
}
