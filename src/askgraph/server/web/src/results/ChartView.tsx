// The result as a chart, with the choice of charts that the columns suggest.

import type { Row } from "../api/types.ts";
import { locale as formatLocale } from "../i18n/index.ts";
import { Select } from "../parts/parts.tsx";
import { Bars } from "./BarChart.tsx";
import { bars, type Chart, dots, keyOf, lines, valuesOf } from "./charts.ts";
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
  const locale = formatLocale.value;
  const chart = charts.find((each) => keyOf(each) === chosen) ?? charts[0];
  if (!chart) return null;
  const label = titleOf(chart);
  const sized = { label, width };
  return (
    <figure class="chart stack near" ref={element}>
      <div class="row spread">
        {charts.length > 1 ? (
          <Select
            class="chart-choice"
            label={say.show}
            labelled="seen-by-readers"
            slim
            value={keyOf(chart)}
            options={charts.map((each) => [keyOf(each), titleOf(each)])}
            onChoose={onChoose}
          />
        ) : (
          <figcaption>{label}</figcaption>
        )}
        <Pictures name={label} drawing={() => element.current?.querySelector(".marks svg")} />
      </div>
      {width > 0 && chart.kind === "bars" && (
        <Bars bars={bars(chart, rows, locale, ordered)} ordered={ordered} {...sized} />
      )}
      {width > 0 && chart.kind === "line" && (
        <Lines series={lines(chart, rows, locale)} {...sized} />
      )}
      {width > 0 && chart.kind === "scatter" && (
        <Dots dots={dots(chart, rows, locale)} chart={chart} {...sized} />
      )}
      {width > 0 && chart.kind === "histogram" && (
        <Histogram column={chart.value} values={valuesOf(chart.value, rows)} {...sized} />
      )}
    </figure>
  );
}

function titleOf({ kind, value, by }: Chart): string {
  if (by === null) return say.spread(value.title);
  const words = kind === "scatter" ? say.against : kind === "line" ? say.over : say.chartOf;
  return words(value.title, by.title);
}
