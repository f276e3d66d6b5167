// A query that was considered, in words; they are asked for when it is shown.

import { useEffect, useState } from "preact/hooks";
import type { Step } from "../api/types.ts";
import type { Reader } from "./reading.ts";

export type Draft = Extract<Step, { step: "draft" }>;

/** The words of a draft; null until they are known, "" where there are none. */
export function useWords(draft: Draft, read: Reader | null): string | null {
  const [told, tell] = useState(draft.words || (read ? null : ""));
  useEffect(() => {
    if (told !== null || !read) return;
    let shown = true;
    void read(draft.query).then((words) => shown && tell(words));
    return () => {
      shown = false;
    };
  }, [draft.query]);
  return told;
}
