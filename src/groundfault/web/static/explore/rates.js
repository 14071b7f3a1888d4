import { ask } from "/static/net.js";
import { h, fill, badge, count } from "./dom.js";
import * as state from "./state.js";

const FREE = [...state.OF_CASE, "tab", "way", "first", "page", "sort", "by", "down"];

// Rates come twice: at once what the cells give, then everything with intervals.
export function startRates(place, of, current) {
  let asked = null, turn = 0, timer = 0, whole = 0;  // the turn whose full rates are there
  async function load(query, more, mine) {
    try {
      const found = await ask(`/explore/api/rates?${query}${more}`);
      if (mine !== turn || (!more && whole === mine)) return;  // the second answer may come first
      if (more) whole = mine;
      draw(place, of, current(), found, more !== "");
    } catch (problem) {
      if (mine !== turn) return;
      if (more) place.classList.remove("waiting");
      else fill(place, h("p", { class: "problem" }, problem.message));
    }
  }
  state.onChange(() => {
    const query = state.query(FREE);
    if (query === asked) { marked(place); return; }
    asked = query;
    place.classList.add("waiting");
    const mine = ++turn;
    clearTimeout(timer);
    load(query, "", mine);
    timer = setTimeout(() => load(query, "&full=1&intervals=1", mine), 300);
  });
}

function draw(place, of, set, found, full) {
  const chosen = state.one("ab") || state.one("e");
  const row = state.one("row", "Overall");
  of.textContent = `${row === "all" ? "everything" : row}: ${count(found.n)} ${set.kind === "questions" ? "questions" : "cases"}${chosen ? ", chosen by how runs ended: no fair sample of them" : ""}`;
  place.classList.toggle("waiting", !full);
  fill(place, h("table", { class: "rates" },
    h("thead", {}, h("tr", {}, h("th", {}, "run"), found.metrics.map((metric) => h("th", { class: "number", title: metric.about }, metric.heading, h("span", { class: "arrow" }, metric.arrow))))),
    h("tbody", {}, found.runs.map((run, k) => h("tr", {},
      h("th", { scope: "row" }, h("span", { class: "who" }, badge(k, set.runs[k].name), h("span", { class: "run-name", title: set.runs[k].name }, set.runs[k].name), pick("a", set.runs[k].name, set), pick("b", set.runs[k].name, set)), h("small", { class: "soft" }, point(run), run.why ? ` ${run.why}` : "")),
      found.metrics.map((metric) => cell(run.values[metric.name], full, run.why)))))));
  marked(place);
}

function cell(rate, full, why) {
  if (!rate) return h("td", { class: "number soft", title: why || "masks are being compared" }, full ? "–" : "…");
  return h("td", { class: "number" }, rate.text, rate.interval ? h("small", {}, rate.interval) : null);
}

const point = (run) => [run.t !== null && run.t !== undefined ? `t ${Number(run.t).toFixed(2)}` : "", run.tau !== null && run.tau !== undefined ? `τ ${Number(run.tau).toFixed(2)}` : ""].filter(Boolean).join(", ");

function pick(which, name, set) {
  if (set.runs.length < 2 || !set.criteria.length) return null;
  return h("button", { type: "button", class: "pick", data: { which, name }, "aria-label": `take ${name} as ${which.toUpperCase()}`, onclick: () => state.change({ [which]: name }) }, which.toUpperCase());
}

function marked(place) {
  for (const button of place.querySelectorAll(".pick")) button.setAttribute("aria-pressed", String(button.dataset.name === chosenRun(button.dataset.which, place)));
}

// A and B where nobody chose: what contrast.js shows.
function chosenRun(which, place) {
  return state.one(which) || place.ownerDocument.getElementById("contrast").dataset[which] || "";
}
