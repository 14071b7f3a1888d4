// The view is the query of the address. Everything reads it here and changes it here, so that a link shows what its maker saw.
// What only the open case depends on.
export const OF_CASE = ["case", "hide", "target", "low"];
const listeners = [];
let params = new URLSearchParams(location.search);

export const one = (name, usual = "") => params.get(name) ?? usual;
export const all = (name) => params.getAll(name);
export const has = (name, value) => params.getAll(name).includes(value);
export const query = (without = []) => {
  const kept = new URLSearchParams(params);
  for (const name of without) kept.delete(name);
  return kept.toString();
};

// `given` is name → value, list of values, or null for none. Filters lead back to the first page.
export function change(given, { keepPage = false, replace = false } = {}) {
  const next = new URLSearchParams(params);
  for (const [name, value] of Object.entries(given)) {
    next.delete(name);
    for (const each of Array.isArray(value) ? value : [value]) if (each !== null && each !== "") next.append(name, each);
  }
  if (!keepPage && !("page" in given)) next.delete("page");
  if (next.toString() === params.toString()) return;
  params = next;
  const address = `${location.pathname}${params.size ? "?" : ""}${params}`;
  history[replace ? "replaceState" : "pushState"](null, "", address);
  tell();
}

export function toggle(name, value) {
  const values = all(name);
  change({ [name]: values.includes(value) ? values.filter((each) => each !== value) : [...values, value] });
}

export function onChange(listener) { listeners.push(listener); }
export function tell() { for (const listener of listeners) listener(); }

addEventListener("popstate", () => { params = new URLSearchParams(location.search); tell(); });
