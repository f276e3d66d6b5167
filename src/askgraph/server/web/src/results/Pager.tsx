// From page to page of a list.

import { Button } from "../parts/parts.tsx";
import { say } from "./words.ts";

const SIZES = [25, 50, 100, 250];

interface Props {
  /** From 0. */
  readonly page: number;
  readonly pages: number;
  readonly onPage: (page: number) => void;
  /** Rows a page, if they can be chosen. */
  readonly size?: number;
  readonly onSize?: (size: number) => void;
}

export function Pager({ page, pages, onPage, size, onSize }: Props) {
  const step = (label: string, sign: string, to: number, off: boolean) => (
    <Button look="quiet icon small" label={label} disabled={off} onClick={() => onPage(to)}>
      {sign}
    </Button>
  );
  return (
    <div class="pager row muted small number" role="group" aria-label={say.pages}>
      {pages > 1 && (
        <>
          {step(say.first, "«", 0, page === 0)}
          {step(say.previous, "‹", page - 1, page === 0)}
          <span aria-live="polite">{say.page(page + 1, pages)}</span>
          {step(say.next, "›", page + 1, page >= pages - 1)}
          {step(say.last, "»", pages - 1, page >= pages - 1)}
        </>
      )}
      {onSize && (
        <label class="row at-end">
          {say.perPage}
          <select
            class="field slim"
            value={size}
            onChange={(event) => onSize(Number(event.currentTarget.value))}
          >
            {SIZES.map((choice) => (
              <option key={choice} value={choice}>
                {choice}
              </option>
            ))}
          </select>
        </label>
      )}
    </div>
  );
}
