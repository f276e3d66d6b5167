// What a graph is about: its classes, predicates and things.

export interface BrowsePageProps {
  /** The graph that is shown; null for the list of all. */
  readonly graph: string | null;
  readonly query: URLSearchParams;
}

export function BrowsePage({ graph }: BrowsePageProps) {
  return <div class="page">{graph}</div>;
}
