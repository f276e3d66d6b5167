// The result as a chart, with the choice of charts that the columns suggest.

import { useMemo, useState } from "preact/hooks";
import type { Row } from "../api/types.ts";
import { locale as formatLocale } from "../i18n/index.ts";
import { BarsChart } from "./BarsChart.tsx";
import { bars, type Chart, chartName, lines, valuesOf } from "./charts.ts";
import { HistogramChart } from "./HistogramChart.tsx";
import { LineChart } from "./LineChart.tsx";
import { useWidth } from "./useWidth.ts";
import { words } from "./words.ts";

interface Props {
  readonly charts: readonly Chart[];
  readonly rows: readonly Row[];
}

export function ChartView({ charts, rows }: Props) {
  const [chosen, setChosen] = useState(0);
  const [element, width] = useWidth<HTMLElement>();
  const chart = charts[chosen] ?? charts[0];
  return (
    <figure class="chart" ref={element}>
      {charts.length > 1 ? (
        <label class="chart-choice">
          <span class="seen-by-readers">{words().show}</span>
          <select
            class="field"
            value={chosen}
            onChange={(event) => setChosen(Number(event.currentTarget.value))}
          >
            {charts.map((each, index) => (
              <option key={titleOf(each)} value={index}>
                {titleOf(each)}
              </option>
            ))}
          </select>
        </label>
      ) : (
        chart && <figcaption>{titleOf(chart)}</figcaption>
      )}
      {chart && width > 0 && <Drawn chart={chart} rows={rows} width={width} />}
    </figure>
  );
}

function Drawn({ chart, rows, width }: { chart: Chart; rows: readonly Row[]; width: number }) {
  const locale = formatLocale.value;
  const label = titleOf(chart);
  const drawn = useMemo(() => {
    switch (chart.kind) {
      case "bars":
        return (at: number) => (
          <BarsChart bars={bars(chart, rows, locale)} label={label} width={at} />
        );
      case "line":
        return (at: number) => (
          <LineChart series={lines(chart, rows, locale)} label={label} width={at} />
        );
      case "histogram": {
        const values = valuesOf(chart.value, rows);
        const times = chart.value.kind === "time";
        return (at: number) => <HistogramChart {...{ values, times, label }} width={at} />;
      }
    }
  }, [chart, rows, locale, label]);
  return drawn(width);
}

function titleOf(chart: Chart): string {
  const { value, by } = chartName(chart);
  if (chart.kind === "histogram" || by === null) return words().spread(value);
  return chart.kind === "line" ? words().over(value, by) : words().chartOf(value, by);
}
