// Choices stored in the browser; the page also works without storage.

/** The choice kept under a name, or null. */
export function kept(name: string): string | null {
  try {
    return localStorage.getItem(`askgraph.${name}`);
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
