import { ask } from "/static/net.js";
import { h, fill, badge, count } from "./dom.js";
import * as state from "./state.js";

export function startConfusion(place, current) {
  let asked = null, turn = 0;
  state.onChange(async () => {
    const set = current();
    if (state.one("tab") !== "confusion" || !set.confusable.length) return;
    const query = state.query([...state.OF_CASE, "tab", "page", "sort", "by", "down"]);
    if (query === asked) return;
    asked = query;
    const mine = ++turn;
    try {
      const found = await ask(`/explore/api/confusion?${query}`);
      if (mine === turn) draw(place, set, found);
    } catch (problem) { if (mine === turn) fill(place, h("p", { class: "problem" }, problem.message)); }
  });
}

function draw(place, set, found) {
  const first = state.one("first");
  fill(place,
    h("div", { class: "list-bar" },
      h("label", {}, h("span", { class: "visually-hidden" }, "What counts"), h("select", { id: "way", onchange: (event) => state.change({ way: event.target.value }, { keepPage: true }) }, found.ways.map((way) => h("option", { value: way, selected: way === found.way }, way)))),
      h("label", {}, h("span", { class: "visually-hidden" }, "Whose confusions come first"), h("select", { id: "first", onchange: (event) => state.change({ first: event.target.value }, { keepPage: true }) }, h("option", { value: "" }, "of all runs together"), set.runs.map((run) => h("option", { value: run.name, selected: run.name === first }, `of ${run.name}`)))),
      h("span", { class: "soft small" }, `${count(found.n_pairs)} pairs of phrases${found.pairs.length < found.n_pairs ? `, the ${found.pairs.length} most confused` : ""}`)),
    h("div", { class: "scroll" }, h("table", { class: "confused" },
      h("thead", {}, h("tr", {}, h("th", {}, "there is"), h("th", {}, "taken for"), set.runs.map((run, k) => h("th", { class: "number", title: run.name }, badge(k, run.name), h("span", { class: "run-name" }, run.name))))),
      h("tbody", {}, found.pairs.map((pair) => h("tr", {},
        h("td", {}, only(found.there, pair.there)), h("td", {}, h("button", { type: "button", class: "plain", onclick: () => state.change({ f: [...rest([found.there, found.asked]), `${found.there}:${pair.there}`, `${found.asked}:${pair.asked}`], tab: null }) }, pair.asked)),
        pair.n.map((n, run) => share(pair.taken[run], n))))))));
}

const rest = (facets) => state.all("f").filter((each) => !facets.some((facet) => each.startsWith(`${facet}:`)));

function only(facet, value) {
  return h("button", { type: "button", class: "plain", onclick: () => state.change({ f: [...rest([facet]), `${facet}:${value}`], tab: null }) }, value);
}

function share(taken, n) {
  const bar = h("span", { class: "bar" });
  bar.style.width = n ? `${100 * taken / n}%` : "0";
  return h("td", { class: "number share" }, h("span", { class: "of" }, n ? `${taken} of ${n}` : "–"), h("span", { class: "track" }, bar));
}
