// The result of an answer: as a table, a chart, a map or a graph.

import type { AnswerView } from "../api/types.ts";

export interface ResultViewProps {
  readonly answer: AnswerView;
  /** The run whose whole result can be downloaded; null for a query run by hand. */
  readonly runId: string | null;
  readonly graph: string;
}

export function ResultView({ answer }: ResultViewProps) {
  return (
    <table>
      <thead>
        <tr>
          {answer.columns.map((column) => (
            <th key={column}>{column}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {answer.cells.map((row, at) => (
          <tr key={at}>
            {row.map((cell, column) => (
              <td key={answer.columns[column]}>{cell ? (cell.label ?? cell.value) : ""}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
