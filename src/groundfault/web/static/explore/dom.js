// Elements from plain values. Whatever is foreign becomes text or an attribute, never markup.
export function h(tag, given = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name === "class") made.className = value;
    else if (name === "data") Object.assign(made.dataset, value);
    else if (name in made && typeof value !== "string") made[name] = value;
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

const SVG = "http://www.w3.org/2000/svg";
export function s(tag, given = {}, ...children) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(given)) if (value !== undefined && value !== null) made.setAttribute(name, value);
  made.append(...children.flat(Infinity).filter(Boolean));
  return made;
}

export function fill(place, ...children) {
  place.replaceChildren(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
}

// The badge of a run: its number says what its colour says.
export function badge(k, name) {
  const made = h("span", { class: "badge", title: name }, String(k + 1));
  made.dataset.series = k % 8;
  return made;
}

export const SIGNS = { true: "✓", false: "✕", null: "–" };

export function debounce(work, wait) {
  let timer = 0;
  return (...given) => { clearTimeout(timer); timer = setTimeout(() => work(...given), wait); };
}

export function p_words(p) {
  if (p === null || p === undefined) return "p not known";
  if (p < 0.0001) return "p < 0.0001";
  return `p = ${p < 0.001 ? p.toFixed(4) : p.toFixed(3)}`;
}

export const count = (n) => n.toLocaleString("en");
