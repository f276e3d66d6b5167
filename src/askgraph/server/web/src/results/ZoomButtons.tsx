// Nearer, farther, all of it: for a map and for a drawing.

import { Button } from "../parts/parts.tsx";
import { say } from "./words.ts";

const STEP = 1.6;

export function ZoomButtons({ zoom, fit }: { zoom: (factor: number) => void; fit: () => void }) {
  const button = (label: string, sign: string, press: () => void) => (
    <Button look="icon small" label={label} onClick={press}>
      {sign}
    </Button>
  );
  return (
    <div class="zoom-buttons stack tight">
      {button(say.nearer, "+", () => zoom(STEP))}
      {button(say.farther, "−", () => zoom(1 / STEP))}
      {button(say.all, "⤢", fit)}
    </div>
  );
}
