// Icons in the colour of the text; their labels are beside them.

const PATHS = {
  ask: "M3 8h9M8.5 4.5 12 8l-3.5 3.5",
  stop: "M4.5 4.5h7v7h-7z",
  check: "m3 8.5 3.2 3L13 4.5",
  cross: "m4 4 8 8M12 4l-8 8",
  down: "m4 6.5 4 4 4-4",
  up: "m4 9.5 4-4 4 4",
  copy: "M5.5 5.5V3h7.5v7.5h-2.5M3 5.5h7.5V13H3z",
  link: "M6.7 9.3a2.6 2.6 0 0 0 3.7 0l2-2a2.6 2.6 0 0 0-3.7-3.7l-.8.8M9.3 6.7a2.6 2.6 0 0 0-3.7 0l-2 2a2.6 2.6 0 0 0 3.7 3.7l.8-.8",
  out: "M6 3.5H3.5v9h9V10M9 3h4v4M13 3 7.5 8.5",
  save: "M8 2.5v7.5M4.7 7 8 10.3 11.3 7M3 13h10",
  search: "M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10zM10.7 10.7 14 14",
  plus: "M8 3v10M3 8h10",
  sun: "M8 10.8a2.8 2.8 0 1 0 0-5.6 2.8 2.8 0 0 0 0 5.6zM8 1.5v1.3M8 13.2v1.3M1.5 8h1.3M13.2 8h1.3M3.4 3.4l.9.9M11.7 11.7l.9.9M3.4 12.6l.9-.9M11.7 4.3l.9-.9",
  moon: "M13 9.7A5.5 5.5 0 0 1 6.3 3a5.5 5.5 0 1 0 6.7 6.7z",
  system: "M2.5 3h11v7.5h-11zM6 13.5h4M8 10.5v3",
  help: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM6.3 6.3a1.8 1.8 0 1 1 2.6 1.6c-.6.3-.9.6-.9 1.3M8 11.2v.1",
  pin: "M5.5 2.5h5M6.5 2.5v4L4 9.5h8L9.5 6.5v-4M8 9.5v4.5",
  bin: "M3 4.5h10M6 4.5V3h4v1.5M4.5 4.5l.6 8.5h5.8l.6-8.5M6.8 7v3.7M9.2 7v3.7",
  undo: "M6 3 3 6l3 3M3 6h6.5a3.5 3.5 0 0 1 0 7H6",
  pen: "m3 13 .6-2.8 7.2-7.2 2.2 2.2-7.2 7.2zM9.4 4.4l2.2 2.2",
  run: "M5 3.5v9l7.5-4.5z",
  sliders: "M2.5 5h6M11.5 5h2M10 3.5v3M2.5 11h2M7.5 11h6M6 9.5v3",
  graph:
    "M4.5 5.5 11 4M5 6.3l2.5 5M11.5 5.5 9 11.3M4 7a1.7 1.7 0 1 0 0-3.4A1.7 1.7 0 0 0 4 7zM12 5.4a1.6 1.6 0 1 0 0-3.2 1.6 1.6 0 0 0 0 3.2zM8.2 14a1.8 1.8 0 1 0 0-3.6 1.8 1.8 0 0 0 0 3.6z",
  more: "M3.5 8h.1M8 8h.1M12.5 8h.1",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name, size = 16 }: { name: IconName; size?: number }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      stroke-width={name === "more" ? 2 : 1.4}
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
