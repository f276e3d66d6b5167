// The dated neighbours of a thing on a line of time, each with its name if it has room.

import { useState } from "preact/hooks";
import { tableOf } from "../api/graphs.ts";
import { thingAddress } from "../app/router.ts";
import { language, locale } from "../i18n/index.ts";
import { useFetched } from "../parts/asking.ts";
import { Select } from "../parts/parts.tsx";
import { XAxis } from "../results/Marks.tsx";
import { lineOf, shortenText, useWidth, widthOf } from "../results/measure.ts";
import { timeAxis } from "../results/scales.ts";
import { markText, textOf } from "../results/texts.ts";
import { momentOf } from "../results/values.ts";
import { say } from "./words.ts";

const LEAST = 3; // dates of a property
const MOST = 1000;
const LANES = 12;
const LONGEST = 180; // pixels of a name
const AXIS = 30; // pixels of the axis

interface Dated {
  readonly iri: string;
  readonly name: string;
  readonly day: string;
  readonly time: number;
}

type Dates = ReadonlyMap<string, readonly Dated[]>;

/** The neighbours' dates by the name of their property, the most first; earliest first in each. */
async function datesOf(graph: string, iri: string): Promise<Dates> {
  const links = `{ ?near ?in <${iri}> } UNION { <${iri}> ?out ?near }`;
  const test = `FILTER(ISIRI(?near) && REGEX(STR(DATATYPE(?date)), "#(date|gYear)"))`;
  const { cells } = await tableOf(
    graph,
    `SELECT DISTINCT ?says ?near ?date WHERE { ${links} ?near ?says ?date ${test} }
ORDER BY ?date LIMIT ${MOST}`,
  );
  const dates = new Map<string, Dated[]>();
  for (const row of cells) {
    const [says, near, date] = row;
    const moment = momentOf(date ?? null);
    if (!says || !near || !date || !moment) continue;
    const [title = "", name = "", day = ""] = [says, near, date].map((cell) =>
      textOf(cell, locale.value),
    );
    const own = dates.get(title) ?? [];
    if (own.some((one) => one.iri === near.value)) continue;
    dates.set(title, [...own, { iri: near.value, name, day, ...moment }]);
  }
  return new Map(
    [...dates]
      .filter(([, own]) => new Set(own.map(({ time }) => time)).size >= LEAST)
      .sort(([, one], [, other]) => other.length - one.length),
  );
}

/** The timeline; nothing if no property gives three dates. */
export function Timeline({ graph, iri }: { graph: string; iri: string }) {
  const [element, width] = useWidth<HTMLElement>();
  const [chosen, setChosen] = useState("");
  const { value } = useFetched(`${graph} ${iri} ${language.value}`, () => datesOf(graph, iri));
  const titles = [...(value?.keys() ?? [])];
  const title = titles.includes(chosen) ? chosen : titles[0];
  return (
    <section ref={element}>
      {title !== undefined && (
        <>
          <div class="row">
            <h2 class="section-title">{say.timeline}</h2>
            <Select
              label={say.timeline}
              labelled="seen-by-readers"
              slim
              value={title}
              options={titles.map((each) => [each, each])}
              onChoose={setChosen}
            />
          </div>
          <Line {...{ graph, width }} dates={value?.get(title) ?? []} />
        </>
      )}
    </section>
  );
}

function Line({ graph, width, dates }: { graph: string; width: number; dates: readonly Dated[] }) {
  const times = dates.map(({ time }) => time);
  const { scale, ticks, precision } = timeAxis(times, width / 90);
  scale.range([8, width - 8]);
  const { ascent, descent } = lineOf();
  const high = ascent + descent + 4;
  const ends: number[] = [];
  const marks = dates.map((one) => {
    const [x, text] = [scale(one.time), shortenText(one.name, LONGEST)];
    const wide = widthOf(text) + 16;
    const isLeft = x + wide > width;
    const free = ends.findIndex((end) => end <= (isLeft ? x - wide : x - 8));
    const lane = free < 0 ? ends.length : free;
    if (lane < LANES) ends[lane] = isLeft ? x + 8 : x + wide;
    return { ...one, x, text, lane, isLeft };
  });
  const height = ends.length * high + AXIS;
  const y = (lane: number) => height - AXIS - (lane < LANES ? lane + 0.5 : 0) * high;
  return (
    <svg class="timeline" {...{ width, height }} role="group" aria-label={say.timeline}>
      <line x1={0} x2={width} y1={height - AXIS} y2={height - AXIS} />
      {marks.map(({ iri, x, lane }) => (
        <line key={iri} x1={x} x2={x} y1={y(lane)} y2={height - AXIS} />
      ))}
      {marks.map(({ iri, x, lane, isLeft, text, name, day }) => (
        <a key={iri} href={thingAddress(graph, iri)}>
          <title>{`${name}, ${day}`}</title>
          <circle class="pin" cx={x} cy={y(lane)} r={4} />
          {lane < LANES && (
            <text
              x={isLeft ? x - 8 : x + 8}
              y={y(lane) + (ascent - descent) / 2}
              text-anchor={isLeft ? "end" : "start"}
            >
              {text}
            </text>
          )}
        </a>
      ))}
      <XAxis
        {...{ width, height }}
        ticks={ticks.map((tick) => ({
          x: scale(tick),
          text: markText(tick.getTime(), precision, locale.value),
        }))}
      />
    </svg>
  );
}
