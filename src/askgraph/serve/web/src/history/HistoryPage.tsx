// What was asked before.

export interface HistoryPageProps {
  readonly query: URLSearchParams;
}

export function HistoryPage(_: HistoryPageProps) {
  return <div class="page" />;
}
