import { ask } from "/static/net.js";
import { h, fill, count } from "./dom.js";
import * as state from "./state.js";
import { drawThresholds } from "./thresholds.js";
import { drawFilters } from "./filters.js";
import { drawList } from "./list.js";
import { startRates } from "./rates.js";
import { startContrast } from "./contrast.js";
import { startConfusion } from "./confusion.js";
import { startCase } from "./case.js";
import { startExports } from "./exports.js";

const $ = (id) => document.getElementById(id);
let about = null, asked = null, turn = 0, names = [];

export function say(words) { $("said").textContent = words; $("said").hidden = !words; }

function current() {
  return about.sets.find((each) => each.key === state.one("set")) ?? about.sets[0];
}

// What a list depends on: everything but the open case and the tab.
const LIST_FREE = [...state.OF_CASE, "tab", "way", "first"];

async function refresh() {
  const set = current();
  drawSets(set);
  drawThresholds($("thresholds"), set);
  drawTabs(set);
  const query = state.query(LIST_FREE);
  if (query === asked) return;
  asked = query;
  const mine = ++turn;
  document.body.classList.add("busy");
  try {
    const found = await ask(`/explore/api/list?${query}`);
    if (mine !== turn) return;
    say("");
    names = found.list.entries.map((each) => each.name);
    drawFilters($("filters"), set, found);
    drawList($("cases"), set, found.list);
    $("filter-count").textContent = `${count(found.list.n)} of ${count(found.list.n_all)}`;
  } catch (problem) {
    if (mine === turn) { say(problem.message); fill($("cases")); }
  } finally {
    if (mine === turn) document.body.classList.remove("busy");
  }
}

function drawSets(set) {
  const place = $("set");
  fill(place, about.sets.map((each) => h("option", { value: each.key, selected: each === set },
    `${each.title}${each.apart ? ` (${each.apart})` : ""}: ${count(each.n)} ${each.kind}, ${each.runs.length} run${each.runs.length === 1 ? "" : "s"}`)));
  place.disabled = about.sets.length < 2;
  const notes = [...set.notes, ...set.runs.filter((run) => run.failed).map((run) => `${run.name} has ${count(run.failed)} failed items, which are left out on its side.`)];

  fill($("notices"), notes.length ? h("ul", { class: "notices" }, notes.map((note) => h("li", {}, note))) : null);
}

function drawTabs(set) {
  const possible = set.confusable.length > 0;
  const tab = possible && state.one("tab") === "confusion" ? "confusion" : "cases";
  for (const name of ["cases", "confusion"]) {
    $(`tab-${name}`).setAttribute("aria-selected", String(name === tab));
    $(`tab-${name}`).tabIndex = name === tab ? 0 : -1;
    $(name).hidden = name !== tab;
  }
  $("tab-confusion").hidden = !possible;
}

// With the set's name: opened beside other runs it is refused, not misread.
function link() {
  const address = new URL(location.href);
  address.searchParams.set("set", current().key);
  return address.href;
}

// The case after or before the open one, in the order of the list.
export function neighbour(step) {
  const place = names.indexOf(state.one("case"));
  return place < 0 ? names[0] : names[place + step];
}

function keys(event) {
  const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName) && event.target.type !== "range" && event.target.type !== "checkbox";
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  if (event.key === "Escape" && state.one("case") && !typing) state.change({ case: null }, { keepPage: true });
  else if (typing) return;
  else if (event.key === "/") { event.preventDefault(); $("search").focus(); }
  else if (event.key === "j" || event.key === "k") {
    const next = neighbour(event.key === "j" ? 1 : -1);
    if (next) state.change({ case: next }, { keepPage: true, replace: Boolean(state.one("case")) });
  } else if (/^[1-9]$/.test(event.key) && state.one("case")) {
    document.querySelectorAll("#case .run-toggle")[Number(event.key) - 1]?.click();
  }
}

async function start() {
  try {
    about = await ask("/explore/api/sets");
  } catch (problem) { say(problem.message); return; }
  const wanted = state.one("set");
  if (wanted && !about.sets.some((each) => each.key === wanted)) {
    say("This link is about other runs than those that are explored here. Start explore with the runs that it was made with.");
    return;
  }
  if (about.unread_notes) say(`${about.unread_notes} lines of ${about.notes} cannot be read and are left out.`);
  $("set").addEventListener("change", (event) => {
    const none = ["row", "q", "t", "tau", "f", "e", "a", "b", "on", "ab", "tag", "noted", "sort", "by", "down", "page", "tab", "way", "first", ...state.OF_CASE];
    state.change({ ...Object.fromEntries(none.map((name) => [name, null])), set: event.target.value });
  });
  const search = $("search");
  search.value = state.one("q");
  let timer = 0;
  search.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(() => state.change({ q: search.value.trim() }, { replace: true }), 150); });
  for (const name of ["cases", "confusion"]) $(`tab-${name}`).addEventListener("click", () => state.change({ tab: name === "cases" ? null : name }, { keepPage: true }));
  document.querySelector(".tabs").addEventListener("keydown", (event) => {
    if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
    const other = state.one("tab") === "confusion" ? "cases" : "confusion";
    if (!$(`tab-${other}`).hidden) { $(`tab-${other}`).click(); $(`tab-${other}`).focus(); }
  });
  $("copy").addEventListener("click", async () => {
    try { await navigator.clipboard.writeText(link()); $("copy").textContent = "Copied"; }
    catch { $("copy").textContent = "Copy the address above"; }
    setTimeout(() => { $("copy").textContent = "Copy link"; }, 1500);
  });
  if (matchMedia("(max-width: 60rem)").matches) $("filter-fold").open = false;
  const top = document.querySelector(".top");
  new ResizeObserver(() => document.documentElement.style.setProperty("--top", `${top.offsetHeight}px`)).observe(top);
  addEventListener("keydown", keys);
  startRates($("rates"), $("rates-of"), current);
  startContrast($("contrast"), current);
  startConfusion($("confusion"), current);
  startCase($("case"), current, { next: () => neighbour(1), previous: () => neighbour(-1), changed: () => { asked = null; refresh(); } });
  startExports($("export-choices"), about, current);
  state.onChange(() => { if (search !== document.activeElement) search.value = state.one("q"); refresh(); });
  state.tell();
}

start();
