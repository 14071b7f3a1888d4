import { h, fill, badge, count } from "./dom.js";
import * as state from "./state.js";

const folds = new Map();  // which groups somebody opened or closed

export function drawFilters(place, set, found) {
  const focus = document.activeElement?.id;
  fill(place,
    clearAll(), rowChoice(set),
    found.list.facets.map((facet) => group(facet.name, !set.phrases.includes(facet.name), facet.values.map((each) =>
      check(`f=${facet.name}:${each.value}`, each.value, each.n, state.has("f", `${facet.name}:${each.value}`), () => state.toggle("f", `${facet.name}:${each.value}`))),
      facet.n > facet.values.length ? `the most frequent of ${count(facet.n)}; search for others` : "")),
    tagGroup(found.tags),
    set.runs.map((run, k) => ends(set, run, k, found.list.ends[k])));
  if (focus) document.getElementById(focus)?.focus({ preventScroll: true });
}

function clearAll() {
  const any = ["q", "f", "e", "tag", "noted", "ab"].some((name) => state.one(name));
  return h("button", { type: "button", class: "plain clear", id: "clear", hidden: !any,
    onclick: () => { document.getElementById("search").value = ""; state.change({ q: null, f: null, e: null, tag: null, noted: null, ab: null }); } }, "Clear all filters");
}

function rowChoice(set) {
  const chosen = state.one("row", "Overall");
  const words = (name) => set.slices[name] ? `${name}: ${set.slices[name]}` : name;
  const select = h("select", { id: "row", onchange: (event) => state.change({ row: event.target.value === "Overall" ? null : event.target.value }) },
    Object.entries(set.rows).map(([name, n]) => h("option", { value: name, selected: name === chosen }, `${words(name)} (${count(n)})`)),
    h("option", { value: "all", selected: chosen === "all" }, `everything (${count(set.n)})`));
  return h("label", { class: "field" }, h("span", {}, "Row of the result table"), select);
}

function group(name, open, content, note = "") {
  const made = h("details", { class: "group", open: folds.get(name) ?? open }, h("summary", {}, name), h("div", { class: "checks" }, content), note ? h("p", { class: "small soft" }, note) : null);
  made.addEventListener("toggle", () => folds.set(name, made.open));
  return made;
}

function check(id, label, n, on, change) {
  return h("label", { class: `check${n ? "" : " none"}` }, h("input", { type: "checkbox", id, checked: on, onchange: change }), h("span", { class: "label", title: label }, label), h("span", { class: "n" }, count(n)));
}

function tagGroup(tags) {
  const listed = Object.entries(tags);
  const noted = check("noted", "with notes", "", state.one("noted") === "1", () => state.change({ noted: state.one("noted") ? null : "1" }));
  return group("Notes and tags", listed.length > 0 || Boolean(state.one("noted")), [noted, ...listed.map(([tag, n]) => check(`tag=${tag}`, tag, n, state.has("tag", tag), () => state.toggle("tag", tag)))]);
}

function ends(set, run, k, counts) {
  if (!Object.keys(set.sides).length) return null;
  const sides = Object.entries(set.sides).map(([side, labels]) => {
    const shown = labels.map((label, code) => [label, counts[side]?.[code] ?? 0]).filter(([label, n]) => n || state.has("e", `${side}:${label}@${run.name}`));
    return shown.length ? h("div", { class: "side" }, h("p", { class: "small soft" }, side), shown.map(([label, n]) => {
      const value = `${side}:${label}@${run.name}`;
      const made = check(`e=${value}`, label, n, state.has("e", value), () => state.toggle("e", value));
      made.title = set.cells[label] ?? "";
      return made;
    })) : null;
  });
  const picked = state.all("e").some((each) => each.endsWith(`@${run.name}`));
  const made = h("details", { class: "group", open: folds.get(`run ${run.name}`) ?? picked }, h("summary", {}, badge(k, run.name), " ", run.name), sides);
  made.addEventListener("toggle", () => folds.set(`run ${run.name}`, made.open));
  return made;
}
