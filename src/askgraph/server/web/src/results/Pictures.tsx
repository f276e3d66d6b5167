// A drawing saved as a picture, SVG or PNG.

import { save } from "../api/http.ts";
import { useAttempt } from "../parts/asking.ts";
import { Menu } from "../parts/Popover.tsx";
import { ProblemNote } from "../parts/parts.tsx";
import { pngOf, standalone } from "./pictures.ts";
import { say } from "./words.ts";

interface PicturesProps {
  /** What is drawn, for the name of the file. */
  readonly name: string;
  /** Returns the drawing as it is now. */
  readonly drawing: () => SVGSVGElement | null | undefined;
}

export function Pictures({ name, drawing }: PicturesProps) {
  const [attempt, problem] = useAttempt();
  const keep = async (format: "svg" | "png") => {
    const drawn = drawing();
    if (!drawn) return;
    const text = standalone(drawn, name);
    const blob =
      format === "svg" ? new Blob([text], { type: "image/svg+xml" }) : await pngOf(text, drawn);
    save(blob, `${fileName(name)}.${format}`);
  };
  return (
    <span class="at-end">
      <Menu
        icon="save"
        label={say.asPicture}
        groups={[
          {
            items: (["svg", "png"] as const).map((format) => ({
              text: format.toUpperCase(),
              take: () => void attempt(() => keep(format)),
            })),
          },
        ]}
      />
      <ProblemNote problem={problem} />
    </span>
  );
}

/** The name of a file for what has a title. */
export function fileName(title: string): string {
  return title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, "-")
    .replace(/^-|-$/g, "")
    .slice(0, 80);
}
