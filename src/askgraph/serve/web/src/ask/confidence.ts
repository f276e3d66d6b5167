// How sure an answer is, in the same words as on the command line.

export type Sureness = "sure" | "fairly" | "unsure" | "guess";

/** The word for a confidence between 0 and 1. */
export function sureness(confidence: number): Sureness {
  if (confidence >= 0.85) return "sure";
  if (confidence >= 0.6) return "fairly";
  return confidence >= 0.35 ? "unsure" : "guess";
}
