// Adds a graph, from files or from an address.

export function AddPage() {
  return <div class="page" />;
}
