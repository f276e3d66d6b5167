// The result as a chart, with the choice of charts that the columns suggest.

import { useMemo } from "preact/hooks";
import type { Row } from "../api/types.ts";
import { locale as formatLocale } from "../i18n/index.ts";
import { Select } from "../parts/parts.tsx";
import { Bars } from "./BarChart.tsx";
import { bars, type Chart, chartName, dots, keyOf, lines, valuesOf } from "./charts.ts";
import { Histogram } from "./Histogram.tsx";
import { Lines } from "./LineChart.tsx";
import { Pictures } from "./Pictures.tsx";
import { Dots } from "./ScatterChart.tsx";
import { useWidth } from "./useWidth.ts";
import { say } from "./words.ts";

interface ChartViewProps {
  readonly charts: readonly Chart[];
  readonly rows: readonly Row[];
  /** Whether the order of the rows is a part of the answer. */
  readonly ordered: boolean;
  /** Which chart is chosen, by its key. */
  readonly chosen: string | null;
  readonly onChoose: (key: string) => void;
}

export function ChartView({ charts, rows, ordered, chosen, onChoose }: ChartViewProps) {
  const [element, width] = useWidth<HTMLElement>();
  const chart = charts.find((each) => keyOf(each) === chosen) ?? charts[0];
  if (!chart) return null;
  return (
    <figure class="chart stack near" ref={element}>
      <div class="chart-head row">
        {charts.length > 1 ? (
          <Select
            class="chart-choice"
            label={say.show}
            labelled="seen-by-readers"
            value={keyOf(chart)}
            options={charts.map((each) => [keyOf(each), titleOf(each)])}
            onChoose={onChoose}
          />
        ) : (
          <figcaption>{titleOf(chart)}</figcaption>
        )}
        <Pictures
          name={titleOf(chart)}
          drawing={() => element.current?.querySelector(".marks svg")}
        />
      </div>
      {width > 0 && <Drawn {...{ chart, rows, ordered, width }} />}
    </figure>
  );
}

interface DrawnProps {
  readonly chart: Chart;
  readonly rows: readonly Row[];
  readonly ordered: boolean;
  readonly width: number;
}

function Drawn({ chart, rows, ordered, width }: DrawnProps) {
  const locale = formatLocale.value;
  const label = titleOf(chart);
  const drawn = useMemo(() => {
    switch (chart.kind) {
      case "bars": {
        const own = bars(chart, rows, locale, ordered);
        return (at: number) => <Bars bars={own} {...{ label, ordered }} width={at} />;
      }
      case "line": {
        const series = lines(chart, rows, locale);
        return (at: number) => <Lines series={series} label={label} width={at} />;
      }
      case "scatter": {
        const own = dots(chart, rows, locale);
        return (at: number) => <Dots dots={own} chart={chart} label={label} width={at} />;
      }
      case "histogram": {
        const values = valuesOf(chart.value, rows);
        const times = chart.value.kind === "time";
        return (at: number) => <Histogram {...{ values, times, label }} width={at} />;
      }
    }
  }, [chart, rows, ordered, locale, label]);
  return drawn(width);
}

function titleOf(chart: Chart): string {
  const { value, by } = chartName(chart);
  if (by === null) return say.spread(value);
  if (chart.kind === "scatter") return say.against(value, by);
  return chart.kind === "line" ? say.over(value, by) : say.chartOf(value, by);
}
