// Tabs by the pattern that screen readers know: one is in the tab order, arrows go to the others.

interface Tab<Name extends string> {
  readonly name: Name;
  readonly title: string;
}

interface Props<Name extends string> {
  /** The panel has the id `ID-panel`, the tabs `ID-NAME`. */
  readonly id: string;
  readonly label: string;
  readonly tabs: readonly Tab<Name>[];
  readonly chosen: Name;
  readonly onChoose: (name: Name) => void;
}

export function TabList<Name extends string>({ id, label, tabs, chosen, onChoose }: Props<Name>) {
  const at = tabs.findIndex(({ name }) => name === chosen);
  const go = (event: KeyboardEvent) => {
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[event.key];
    const tab = to === undefined ? undefined : tabs[(to + tabs.length) % tabs.length];
    if (!tab) return;
    event.preventDefault();
    onChoose(tab.name);
    document.getElementById(`${id}-${tab.name}`)?.focus();
  };
  return (
    <div class="tabs" role="tablist" aria-label={label}>
      {tabs.map(({ name, title }) => (
        <button
          key={name}
          type="button"
          role="tab"
          id={`${id}-${name}`}
          aria-selected={name === chosen}
          aria-controls={`${id}-panel`}
          tabIndex={name === chosen ? 0 : -1}
          onClick={() => onChoose(name)}
          onKeyDown={go}
        >
          {title}
        </button>
      ))}
    </div>
  );
}
