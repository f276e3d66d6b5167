// Asking, and the answers of a conversation.

export interface AskPageProps {
  /** The run that the address names; null for a new conversation. */
  readonly run: string | null;
}

export function AskPage({ run }: AskPageProps) {
  return <div class="page">{run}</div>;
}
