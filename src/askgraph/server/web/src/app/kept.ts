// Choices stored in the browser; the page also works without storage.

/** The choice kept under a name, or null; by default until it is changed. */
export function kept(
  name: string,
  storage: "localStorage" | "sessionStorage" = "localStorage",
): string | null {
  try {
    return globalThis[storage].getItem(`askgraph.${name}`);
  } catch {
    return null;
  }
}

/** Keeps a choice; null forgets it. */
export function keep(name: string, value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(`askgraph.${name}`);
    else localStorage.setItem(`askgraph.${name}`, value);
  } catch {
    // Private windows may refuse; the choice then lasts until the page is left.
  }
}
