// What of the graph became more than text.
() => {
  const bad = 'script, iframe, object, embed, base, form[action], meta, link, template, math';
  const leads = ['href', 'src', 'xlink:href', 'action', 'formaction', 'srcdoc', 'data'];
  const main = document.querySelector('main') ?? document.documentElement;
  const isFile = location.protocol === 'file:';
  const parts = isFile ? [] : [...main.querySelectorAll(bad)];
  const found = parts.map(one => one.outerHTML.slice(0, 120));
  for (const one of document.querySelectorAll('*'))
    for (const {name, value} of one.attributes) {
      const place = leads.includes(name) && URL.canParse(value, location.href)
        ? new URL(value, location.href) : null;
      const runs = place && /^(javascript|data|vbscript|blob):/.test(place.protocol);
      if (/^on/i.test(name) || (runs && one.tagName !== 'LINK') || place?.host === 'evil.test')
        found.push(`${one.tagName} ${name}=${value}`.slice(0, 120));
    }
  if (window.burst) found.push('it ran');
  return found;
}
