// How two queries differ, line by line.

export interface Line {
  kind: "same" | "removed" | "added";
  text: string;
}

/** The lines of both texts in order: what both have, what only the first, what only the second has. */
export function differences(first: string, second: string): Line[] {
  const [before, after] = [first.split("\n"), second.split("\n")];
  const common = longestCommon(before, after);
  const lines: Line[] = [];
  let [i, j] = [0, 0];
  while (i < before.length || j < after.length) {
    const [one, other] = [before[i], after[j]];
    if (one !== undefined && other !== undefined && one.trim() === other.trim()) {
      lines.push({ kind: "same", text: other });
      [i, j] = [i + 1, j + 1];
    } else if (
      one !== undefined &&
      (other === undefined || at(common, i + 1, j) >= at(common, i, j + 1))
    ) {
      lines.push({ kind: "removed", text: one });
      i += 1;
    } else {
      lines.push({ kind: "added", text: other ?? "" });
      j += 1;
    }
  }
  return lines;
}

/** For every pair of beginnings, how many lines the rests have in common. */
function longestCommon(before: readonly string[], after: readonly string[]): number[][] {
  const lengths = Array.from({ length: before.length + 1 }, () =>
    new Array<number>(after.length + 1).fill(0),
  );
  for (let i = before.length - 1; i >= 0; i -= 1) {
    for (let j = after.length - 1; j >= 0; j -= 1) {
      const row = lengths[i] as number[];
      row[j] =
        before[i]?.trim() === after[j]?.trim()
          ? at(lengths, i + 1, j + 1) + 1
          : Math.max(at(lengths, i + 1, j), at(lengths, i, j + 1));
    }
  }
  return lengths;
}

function at(lengths: readonly (readonly number[])[], i: number, j: number): number {
  return lengths[i]?.[j] ?? 0;
}
