// The result of an answer: as a table, a chart, a map or a graph.

import { useEffect, useId, useMemo, useState } from "preact/hooks";
import { evidenceOf, type RowEvidence } from "../api/graphs.ts";
import type { AnswerDisplay, AnswerView, Row } from "../api/types.ts";
import { graphTitle, isListed, knownGraphs, knownServer, may } from "../app/known.ts";
import { Later } from "../app/Later.tsx";
import { locale as formatLocale, formatTime } from "../i18n/index.ts";
import { useAttempt, useFetched } from "../parts/asking.ts";
import { joinWithDots, ProblemNote, QuietButton } from "../parts/parts.tsx";
import type { AddingProps } from "./Adding.tsx";
import { chartsOf, firstView, onlyThing, type View } from "./charts.ts";
import { columnsOf, pinsOf, titlesOf } from "./columns.ts";
import { TabList } from "./controls.tsx";
import { PartNote } from "./Downloads.tsx";
import { drawEvidence, drawTriples } from "./evidence.ts";
import { type Known, pinsAt, placesOf, thingsOf } from "./places.ts";
import { Table } from "./Table.tsx";
import { pictureOf } from "./values.ts";
import { say } from "./words.ts";

export { Adding } from "./Adding.tsx";
export { Arranging } from "./Arranging.tsx";

const chart = () => import("./ChartView.tsx").then((found) => found.ChartView);
const map = () => import("./MapView.tsx").then((found) => found.MapView);
const graphDrawing = () => import("./GraphView.tsx").then((found) => found.GraphView);
const card = () => import("./ThingCard.tsx").then((found) => found.ThingCard);

/** With more rows than this, a drawing is unreadable. */
const MOST_DRAWN = 25;
/** The number of rows to add to a drawing at a time. */
const NEXT_DRAWN = 5;

export interface ResultViewProps {
  readonly answer: AnswerView;
  /** The run whose whole result can be downloaded; null for a query run by hand. */
  readonly runId: string | null;
  readonly graph: string;
  readonly question?: string;
  /** How many things lack a value in the first column, by which they are counted. */
  readonly leftOut?: number;
  /** The query of a result whose rows are not explained. */
  readonly query?: string;
  /** Whether to show a map at first for places that are not in the result. */
  readonly wantsMap?: boolean;
  /** The first view; by default the one that suits the result best. */
  readonly shown?: AnswerDisplay;
  readonly onShown?: (shown: AnswerDisplay) => void;
  /** Rows that are new (null), or what they were before. */
  readonly marks?: ReadonlyMap<number, Row | null>;
  /** What adds to the columns, if the reader can. */
  readonly adding?: AddingProps | null;
}

export function ResultView({ answer, runId, graph, query, wantsMap, ...looks }: ResultViewProps) {
  const { shown: wanted, onShown, marks } = looks;
  const result = useMemo(() => nameColumns(answer), [answer]);
  const [chosen, setChosen] = useState<View | null>(wanted?.view ?? null);
  const [drawnAs, setDrawnAs] = useState(wanted?.chart ?? null);
  const [drawn, setDrawn] = useState<RowEvidence | null>(null);
  const [more, setMore] = useState<readonly RowEvidence[]>([]);
  const [attempt, problem] = useAttempt();
  const id = useId();
  const info = knownServer.value.value;
  const locale = formatLocale.value;
  const isTriples = answer.form === "CONSTRUCT";
  const columns = useMemo(
    () => columnsOf(result.columns, result.cells, result.answer_columns, result),
    [result],
  );
  const charts = useMemo(() => chartsOf(columns, result.cells, result.ordered), [columns, result]);
  const said = useMemo(() => pinsOf(columns, result.cells, locale), [columns, result, locale]);
  const known = usePlaces(graph, said.length > 0 ? [] : thingsOf(columns, result.cells));
  const pins = said.length > 0 ? said : pinsAt(known, columns, result.cells, locale);
  const drawing = useMemo(() => {
    if (drawn) return drawEvidence([drawn], drawn.labels ?? result.labels, locale);
    if (isTriples) return drawTriples(result.cells.slice(0, MOST_DRAWN), locale);
    const labels = Object.assign({}, result.labels, ...more.map((one) => one.labels));
    return drawEvidence([...result.evidence.slice(0, MOST_DRAWN), ...more], labels, locale);
  }, [result, drawn, more, locale]);
  useEffect(() => {
    setChosen(wanted?.view ?? null);
    setDrawn(null);
    setMore([]);
  }, [answer]);

  const rows = result.cells;
  const thing = isListed(graph) ? onlyThing(columns, rows) : null;
  const tabs: View[] = thing === null ? ["table"] : ["card", "table"];
  if (charts.length > 0) tabs.push("chart");
  if (pins.length > 0) tabs.push("map");
  if (drawing.edges.length > 0) tabs.push("graph");
  const isAsked = wantsMap && pins.length > 0;
  const best = isAsked ? "map" : firstView({ columns, charts, pins: said, rows });
  const shown = [chosen, best].find((view) => view !== null && tabs.includes(view)) ?? "table";
  const hasPictures = useMemo(() => rows.flat().some(pictureOf), [rows]);
  const needsServer = shown === "card" || shown === "map" || hasPictures;
  useEffect(() => (needsServer ? knownServer.need() : undefined), [needsServer]);
  const pictures = info?.["images"] === true;
  const origin = { graph, runId, query: isTriples ? null : answer.sparql };
  const text = answer.sparql ?? query ?? "";
  const isCut = result.total > rows.length;
  const isPart = /\b(limit|offset)\s+\d/i.test(text);
  const canSort = isCut && !isPart && !isTriples && text !== "" && may("query");
  const source = useMemo(() => (canSort ? { graph, query: text } : null), [canSort, graph, text]);
  const isWhole = !isCut && !isPart && !answer.truncated && !/\bhaving\b/i.test(text);
  const part = (by?: string, isEnd = false) => {
    const counts = [rows.length, result.total] as const;
    const text = by ? say.partBy(...counts, by) : say.partOnly(...counts);
    return isCut && <PartNote {...{ text, runId, graph, isEnd }} heads={titlesOf(columns)} />;
  };
  const origins = joinWithDots(graphTitle(graph), formatTime(new Date().toISOString()));
  const leftOut = looks.leftOut ? say.leftOut(looks.leftOut, columns[0]?.title ?? "") : "";
  const sentence = answer.sentence || answer.words;
  const about = [looks.question ?? "", sentence, leftOut, origins].filter(Boolean);
  const seen = isTriples
    ? Math.min(rows.length, MOST_DRAWN)
    : Math.min(result.evidence.length, MOST_DRAWN) + more.length;
  const choose = (view: View, as = drawnAs) => {
    setChosen(view);
    setDrawnAs(as);
    onShown?.({ view, chart: as });
  };
  const drawMore = () =>
    attempt(async () => {
      const count = Math.min(NEXT_DRAWN, result.total - seen);
      const wanted = Array.from({ length: count }, (_, at) => seen + at);
      const found = await Promise.all(
        wanted.map((row) => evidenceOf(graph, origin.query ?? "", row)),
      );
      setMore([...more, ...found]);
    });
  const draw = (evidence: RowEvidence) => {
    setDrawn(evidence);
    setChosen("graph");
  };
  return (
    <div class="result-view stack near">
      {tabs.length > 1 && (
        <TabList
          id={id}
          label={say.views}
          tabs={tabs.map((name) => ({ name, title: say[name] }))}
          chosen={shown}
          onChoose={choose}
        />
      )}
      <div
        id={`${id}-panel`}
        {...(tabs.length > 1 && { role: "tabpanel", "aria-labelledby": `${id}-${shown}` })}
      >
        {shown === "card" && thing !== null && (
          <Later load={card} props={{ iri: thing, graph, pictures }} />
        )}
        {shown === "table" &&
          (result.boolean === null ? (
            <Table
              {...{ result, columns, origin, source, part, pictures, marks, onDraw: draw }}
              adding={looks.adding ?? null}
            />
          ) : (
            <p class="boolean headline said">{result.boolean ? say.yes : say.no}</p>
          ))}
        {shown === "chart" && (
          <Later
            load={chart}
            props={{
              ...{ charts, rows, part, source, isWhole, about, chosen: drawnAs },
              ...{ ordered: result.ordered, total: result.total },
              onChoose: (as) => choose("chart", as),
            }}
          />
        )}
        {shown === "map" && part()}
        {shown === "map" && (
          <Later
            load={map}
            props={{
              pins,
              graph,
              elsewhere: rows.length - pins.length,
              tiles: info?.tiles ?? "",
              about,
            }}
          />
        )}
        {shown === "graph" && (
          <>
            {drawn && <QuietButton onClick={() => setDrawn(null)} text={say.allRows} />}
            {!drawn && seen < result.total && (
              <p class="row muted small">
                {say.drawnRows(seen, result.total)}
                {origin.query !== null && seen < MOST_DRAWN && (
                  <QuietButton onClick={() => void drawMore()} text={say.drawMore} />
                )}
              </p>
            )}
            <ProblemNote problem={problem} />
            <Later load={graphDrawing} props={{ drawing, graph }} />
          </>
        )}
      </div>
      {leftOut && <p class="muted small">{leftOut}</p>}
    </div>
  );
}

const NOWHERE: Known = new Map();

/** The places of things, for local graphs only, which answer quickly. */
function usePlaces(graph: string, things: readonly string[]): Known {
  const isHere = knownGraphs.value.value?.find(({ name }) => name === graph)?.remote === false;
  const asked = isHere && may("query") ? things : [];
  const found = useFetched(`${graph} ${asked.join(" ")}`, async () =>
    asked.length > 0 ? placesOf(graph, asked) : NOWHERE,
  );
  return found.busy ? NOWHERE : (found.value ?? NOWHERE);
}

/**
 * Returns an answer with the values that decided on its rows as columns; the columns of triples are
 * named in the reader's language.
 */
function nameColumns(answer: AnswerView): AnswerView {
  const triple = [say.subject, say.predicate, say.object];
  if (answer.form === "CONSTRUCT") return { ...answer, columns: triple, answer_columns: triple };
  const { columns, cells } = answer.context ?? { columns: [], cells: [] };
  return {
    ...answer,
    columns: [...answer.columns, ...columns],
    cells: answer.cells.map((row, at) => [...row, ...(cells[at] ?? [])]),
  };
}
