// The API key: asked for when the server wants one, kept until the tab is closed.

import { signal } from "@preact/signals";

const NAME = "askgraph.key";

interface Wanted {
  /** Whether a key was given that the server refused. */
  readonly refused: boolean;
  readonly settle: (key: string | null) => void;
}

/** Set while the page waits for a key. */
export const keyWanted = signal<Wanted | null>(null);

/** Whether a key is in use. */
export const keyInUse = signal(currentKey() !== null);

let asked: Promise<boolean> | null = null;

export function currentKey(): string | null {
  try {
    return sessionStorage.getItem(NAME);
  } catch {
    return null;
  }
}

/** Uses a key from now on; null forgets it. */
export function keepKey(key: string | null): void {
  if (key === null) sessionStorage.removeItem(NAME);
  else sessionStorage.setItem(NAME, key);
  keyInUse.value = key !== null;
}

/** Forgets a key that was refused, unless another one was given meanwhile. */
export function keyRefused(key: string): void {
  if (currentKey() === key) keepKey(null);
}

/** Asks the person for a key, once for all requests that wait; says whether one was given. */
export function askForKey(refused: boolean): Promise<boolean> {
  if (currentKey() !== null) return Promise.resolve(true);
  asked ??= new Promise<boolean>((resolve) => {
    const settle = (key: string | null) => {
      if (key !== null) keepKey(key);
      keyWanted.value = null;
      asked = null;
      resolve(key !== null);
    };
    keyWanted.value = { refused, settle };
  });
  return asked;
}
