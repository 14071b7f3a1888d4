import { ask } from "/static/net.js";
import { h, fill, count, p_words } from "./dom.js";
import * as state from "./state.js";

const FREE = [...state.OF_CASE, "tab", "way", "first", "page", "sort", "by", "down", "ab"];

// A against B: who is right where, in one click, and whether that can be chance.
export function startContrast(place, current) {
  let asked = null, turn = 0;
  state.onChange(async () => {
    const set = current();
    place.hidden = set.runs.length < 2 || !set.criteria.length;
    if (place.hidden) return;
    const [a, b] = two(set);
    Object.assign(place.dataset, { a, b });
    const query = withRuns(state.query(FREE), a, b);
    if (query === asked) { mark(place); return; }
    asked = query;
    const mine = ++turn;
    try {
      const found = await ask(`/explore/api/contrast?${query}`);
      if (mine === turn) draw(place, set, found, query);
    } catch (problem) {
      if (mine === turn) fill(place, h("p", { class: "problem" }, problem.message));
    }
  });
}

// Whom nobody chose: the last run that is no baseline against the first, which is usually before and after.
function two(set) {
  const models = set.runs.filter((run) => !run.baseline), pool = models.length > 1 ? models : set.runs;
  const a = state.one("a") || (pool.at(-1).name !== state.one("b") ? pool.at(-1).name : pool[0].name);
  const b = state.one("b") || pool.find((run) => run.name !== a)?.name || set.runs.find((run) => run.name !== a).name;
  return [a, b];
}

function withRuns(query, a, b) {
  const params = new URLSearchParams(query);
  params.set("a", a);
  params.set("b", b);
  return params.toString();
}

function draw(place, set, found, query) {
  const n = found.both + found.only_a + found.only_b + found.neither;
  const set_ab = (ab) => state.change({ ab: state.one("ab") === ab ? null : ab, a: found.a, b: found.b });
  const quarter = (ab, words, k) => h("button", { type: "button", class: "quarter", data: { ab }, "aria-pressed": "false", onclick: () => set_ab(ab) }, h("b", {}, count(k)), h("span", {}, words));
  fill(place,
    h("div", { class: "contrast-line" },
      h("h2", {}, "A against B"),
      choice("a", "A", set, found.a), choice("b", "B", set, found.b),
      h("label", { class: "on" }, h("span", { class: "soft" }, "in"), h("select", { id: "on", onchange: (event) => state.change({ on: event.target.value }) }, set.criteria.map((name) => h("option", { value: name, selected: name === found.on }, name))))),
    h("div", { class: "quarters" },
      quarter("10", "A right, B wrong", found.only_a), quarter("01", "B right, A wrong", found.only_b),
      quarter("11", "both right", found.both), quarter("00", "both wrong", found.neither)),
    h("p", { class: "verdict", id: "verdict" }, verdict(found, n, set.kind === "questions" ? "questions" : "cases")),
    h("details", { class: "differences", ontoggle: (event) => { if (event.target.open) differences(event.target, query); } }, h("summary", {}, "Paired tests of the metrics"), h("div", { class: "scroll" }, h("p", { class: "soft" }, "…"))));
  mark(place);
  if (place.dataset.open === "1") place.querySelector(".differences").open = true;
}

function choice(name, label, set, chosen) {
  return h("label", { class: "pick-run" }, h("b", {}, label), h("select", { id: `pick-${name}`, onchange: (event) => state.change({ [name]: event.target.value }) }, set.runs.map((run) => h("option", { value: run.name, selected: run.name === chosen }, run.name))));
}

function verdict(found, n, set_words) {
  if (!n) return "No case of this selection is known of both.";
  const points = (value) => `${value < 0 ? "−" : "+"}${Math.abs(value * 100).toFixed(1)}`;
  const ahead = (found.only_a - found.only_b) / n;
  const away = found.unknown ? ` ${count(found.unknown)} are left out: one of them has no answer there.` : "";
  const apart = found.p < 0.05 ? (ahead > 0 ? "A is right more often" : "B is right more often") : "They cannot be told apart";
  return `${apart}: A − B = ${points(ahead)} points [${points(found.low)}, ${points(found.high)}], ${p_words(found.p)} (McNemar, exact) on ${count(n)} ${set_words} of this selection, before A and B are set against each other.${away}`;
}

function mark(place) {
  for (const button of place.querySelectorAll(".quarter")) button.setAttribute("aria-pressed", String(state.one("ab") === button.dataset.ab));
}

async function differences(fold, query) {
  const place = fold.querySelector("div");
  try {
    const found = await ask(`/explore/api/differences?${query}`);
    const number = (value) => value === null ? "–" : value.toFixed(4).replace("-", "−");
    const tests = { t: "Student’s t" };
    fill(place, h("table", {}, h("thead", {}, h("tr", {}, ["metric", "A", "B", "A − B", "95 %", "p", "test"].map((name, k) => h("th", { class: k ? "number" : "" }, name)))),
      h("tbody", {}, found.map((each) => h("tr", {}, h("th", { scope: "row" }, each.heading), [number(each.a), number(each.b), number(each.difference), each.low === null ? "–" : `${number(each.low)} … ${number(each.high)}`, each.p === null ? "–" : p_words(each.p).replace(/^p (= )?/, ""), tests[each.method] ?? each.method].map((cell) => h("td", { class: "number" }, cell)))))),
      h("p", { class: "small soft" }, "Over cases, not corrected for how many were looked at: what was found by looking is a guess until it is tested on other cases."));
  } catch (problem) { fill(place, h("p", { class: "problem" }, problem.message)); }
}
