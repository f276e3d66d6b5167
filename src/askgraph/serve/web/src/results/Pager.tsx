// From page to page of a list.

import { words } from "./words.ts";

const SIZES = [25, 50, 100, 250];

interface Props {
  /** From 0. */
  readonly page: number;
  readonly pages: number;
  readonly onPage: (page: number) => void;
  /** Rows a page, where they can be chosen. */
  readonly size?: number;
  readonly onSize?: (size: number) => void;
}

export function Pager({ page, pages, onPage, size, onSize }: Props) {
  const step = (label: string, sign: string, to: number, off: boolean) => (
    <button
      type="button"
      class="button quiet icon small"
      aria-label={label}
      title={label}
      disabled={off}
      onClick={() => onPage(to)}
    >
      {sign}
    </button>
  );
  return (
    <nav class="pager" aria-label={words().pages}>
      {step(words().first, "«", 0, page === 0)}
      {step(words().previous, "‹", page - 1, page === 0)}
      <span aria-live="polite">{words().page(page + 1, pages)}</span>
      {step(words().next, "›", page + 1, page >= pages - 1)}
      {step(words().last, "»", pages - 1, page >= pages - 1)}
      {onSize && (
        <label class="page-size">
          {words().perPage}
          <select value={size} onChange={(event) => onSize(Number(event.currentTarget.value))}>
            {SIZES.map((choice) => (
              <option key={choice} value={choice}>
                {choice}
              </option>
            ))}
          </select>
        </label>
      )}
    </nav>
  );
}
