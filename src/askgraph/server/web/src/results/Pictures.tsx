// A drawing saved as a picture, SVG or PNG.

import { save } from "../api/http.ts";
import { useAttempt } from "../parts/asking.ts";
import { Popover } from "../parts/Popover.tsx";
import { Button, ProblemNote } from "../parts/parts.tsx";
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
    <span class="pictures">
      <Popover panelClass="downloads" icon="save" label={say.asPicture}>
        {(close) => (
          <ul>
            {(["svg", "png"] as const).map((format) => (
              <li key={format}>
                <Button
                  look="quiet small"
                  onClick={() => {
                    close();
                    void attempt(() => keep(format));
                  }}
                >
                  {format.toUpperCase()}
                </Button>
              </li>
            ))}
          </ul>
        )}
      </Popover>
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
