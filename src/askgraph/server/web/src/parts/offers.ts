// Keys in a field that offers names below it: the arrows walk them, Enter takes the first.

/** Moves among the offers of a panel; Enter in its field takes the first if it `enters`. */
export function among(
  panel: HTMLElement | null,
  event: KeyboardEvent,
  { enters = true }: { readonly enters?: boolean } = {},
): void {
  const offers = [...(panel?.querySelectorAll<HTMLElement>(".alternative") ?? [])];
  const at = offers.indexOf(document.activeElement as HTMLElement);
  const isField = event.target instanceof HTMLInputElement;
  if (at < 0 && !isField) return;
  if (event.key === "ArrowDown") offers[Math.min(at + 1, offers.length - 1)]?.focus();
  else if (event.key === "ArrowUp" && at > 0) offers[at - 1]?.focus();
  else if (event.key === "ArrowUp") panel?.querySelector("input")?.focus();
  else if (event.key !== "Enter" || !isField) return;
  else if (enters) offers[0]?.click();
  event.preventDefault();
}
