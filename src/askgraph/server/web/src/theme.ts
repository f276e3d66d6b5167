// Sets the chosen theme before anything is drawn, so that the page does not flash.

const chosen = ((): string | null => {
  try {
    return localStorage.getItem("askgraph.theme");
  } catch {
    return null;
  }
})();
if (chosen === "light" || chosen === "dark") document.documentElement.dataset["theme"] = chosen;
