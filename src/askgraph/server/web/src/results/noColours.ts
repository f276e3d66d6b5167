// Replaces d3-color: the page's scales are of numbers and times, never of colours.

const none = (): null => null;

export { none as color, none as cubehelix, none as hcl, none as hsl, none as lab, none as rgb };
