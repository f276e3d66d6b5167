// One question, answered by several methods side by side.

export interface ComparePageProps {
  readonly query: URLSearchParams;
}

export function ComparePage(_: ComparePageProps) {
  return <div class="page" />;
}
