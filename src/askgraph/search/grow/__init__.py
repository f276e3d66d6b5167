"""Answer sets grown from what a question mentions, along the graph's own edges."""
