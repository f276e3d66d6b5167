// How two queries differ, line by line.

export interface Line {
  kind: "same" | "removed" | "added";
  text: string;
}

/** The lines of both texts in order: those of both, those of the first only, of the second only. */
export function differences(first: string, second: string): Line[] {
  const [before, after] = [first.split("\n"), second.split("\n")];
  const common = commonPlaces(
    before.map((line) => line.trim()),
    after.map((line) => line.trim()),
  );
  const lines: Line[] = [];
  let [i, j] = [0, 0];
  for (const [one, other] of [...common, [before.length, after.length] as const]) {
    for (; i < one; i += 1) lines.push({ kind: "removed", text: before[i] ?? "" });
    for (; j < other; j += 1) lines.push({ kind: "added", text: after[j] ?? "" });
    if (one < before.length) lines.push({ kind: "same", text: after[j] ?? "" });
    [i, j] = [i + 1, j + 1];
  }
  return lines;
}

/** The places of a longest common subsequence, as pairs in their order. */
export function commonPlaces(left: readonly string[], right: readonly string[]) {
  const width = right.length + 1;
  const longest = new Uint16Array((left.length + 1) * width);
  const at = (i: number, j: number) => longest[i * width + j] ?? 0;
  for (let i = left.length - 1; i >= 0; i -= 1) {
    for (let j = right.length - 1; j >= 0; j -= 1) {
      longest[i * width + j] =
        left[i] === right[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const pairs: [number, number][] = [];
  for (let [i, j] = [0, 0]; i < left.length && j < right.length; ) {
    if (left[i] === right[j]) {
      pairs.push([i, j]);
      [i, j] = [i + 1, j + 1];
    } else if (at(i + 1, j) >= at(i, j + 1)) i += 1;
    else j += 1;
  }
  return pairs;
}
