// A score with its mark, a full, half or empty circle: the shape says the same as the colour.

import { GRADES, gradeOf, percent } from "./data.ts";

export function ScoreTag({ score }: { score: number }) {
  const grade = gradeOf(score);
  return (
    <span class={`score ${grade}`} title={GRADES[grade]}>
      <span class="circle" />
      {percent(score)}
      <span class="seen-by-readers">, {GRADES[grade]}</span>
    </span>
  );
}
