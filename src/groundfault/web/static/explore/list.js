import { h, fill, badge, count } from "./dom.js";
import * as state from "./state.js";

const RIGHT = new Set(["TA-TP", "TN", "found", "rejected", "right", "named"]);
const NEITHER = new Set(["failed", "unjudged"]);

export const isRight = (label) => NEITHER.has(label) ? null : RIGHT.has(label);

export function drawList(place, set, list) {
  const first = (list.page - 1) * 50;
  const many = set.runs.length > 6, sides = Object.keys(set.sides);
  fill(place,
    h("div", { class: "list-bar" }, order(set), pager(list, first)),
    list.entries.length ? h("div", { class: "scroll" }, h("table", { class: `entries${many ? " many" : ""}` },
      h("thead", {}, h("tr", {}, h("th", { class: "thumb" }, h("span", { class: "visually-hidden" }, "picture")), h("th", {}, "case"),
        set.runs.map((run, k) => h("th", { class: "run", title: run.name }, badge(k, run.name), h("span", { class: "run-name" }, run.name), sides.length > 1 ? h("small", { class: "soft sides" }, sides.join(" ")) : null)))),
      h("tbody", {}, list.entries.map((entry) => row(set, entry))))) : h("p", { class: "nothing" }, "No case fits. ", h("button", { type: "button", onclick: () => document.getElementById("clear").click() }, "Clear all filters")),
    list.pages > 1 ? h("div", { class: "list-bar bottom" }, h("span"), pager(list, first)) : null);
}

function row(set, entry) {
  const open = () => state.change({ case: entry.name }, { keepPage: true, replace: Boolean(state.one("case")) });
  const link = h("a", { href: `?${state.query(["case"])}&case=${encodeURIComponent(entry.name)}`, class: "name",
    onclick: (event) => { if (event.ctrlKey || event.metaKey || event.shiftKey) return; event.preventDefault(); open(); } }, entry.name);
  const made = h("tr", { class: state.one("case") === entry.name ? "open" : "", data: { name: entry.name }, onclick: (event) => { if (!event.target.closest("a, button") && !String(getSelection())) open(); } },
    h("td", { class: "thumb" }, thumb(set.key, entry.place)),
    h("td", { class: "what" },
      h("p", { class: "words" }, entry.asked.map(([role, words]) => h("span", { class: "asked" }, h("small", {}, role), " ", words))),
      h("p", { class: "small soft" }, link, " ", facts(entry.facts), marks(entry.noted))),
    entry.ends.map((codes, run) => h("td", { class: "run" }, Object.entries(set.sides).map(([side, labels], k) => end(side, labels[codes[k]], entry.said[run][k], set)))));
  return made;
}

// A value says enough, where it is a word; numbers need to be told what they are.
function facts(given) {
  const words = Object.entries(given).map(([name, value]) => /^[\d.]+$/.test(value) ? `${name} ${value}` : value);
  return [...new Set(words)].join(" · ");
}

function end(side, label, said, set) {
  if (label === undefined) return h("span", { class: "end" }, "·");
  const right = isRight(label);
  const made = h("span", { class: `end ${right === null ? "none" : right ? "right" : "wrong"}`, title: [side, label, set.cells[label], said].filter(Boolean).join(" · ") },
    h("span", { "aria-hidden": "true" }, right === null ? "!" : right ? "✓" : "✕"), h("span", { class: "visually-hidden" }, `${side} ${label} `), said ? h("small", {}, said) : null);
  return made;
}

function marks(noted) {
  const tags = (noted.tags ?? []).map((tag) => h("span", { class: "chip" }, tag));
  return [tags.length ? [" ", tags] : null, noted.notes ? h("span", { class: "chip", title: "notes" }, `✎ ${noted.notes}`) : null];
}

export function thumb(key, place, item = 0) {
  const picture = h("img", { src: `/explore/picture/${key}/${place}/${item}/0/thumb`, alt: "", loading: "lazy", decoding: "async", width: "64", height: "48" });
  picture.addEventListener("error", () => picture.replaceWith(h("span", { class: "no-picture" })));
  return picture;
}

function pager(list, first) {
  const go = (page) => { state.change({ page: page === 1 ? null : String(page) }); document.getElementById("cases").scrollIntoView({ block: "start" }); };
  return h("nav", { class: "pager", "aria-label": "Pages" },
    h("button", { type: "button", disabled: list.page <= 1, onclick: () => go(list.page - 1), "aria-label": "Previous page" }, "‹"),
    h("span", {}, list.n ? `${count(first + 1)}–${count(Math.min(first + 50, list.n))} of ${count(list.n)}` : "0"),
    h("button", { type: "button", disabled: list.page >= list.pages, onclick: () => go(list.page + 1), "aria-label": "Next page" }, "›"));
}

function order(set) {
  const chosen = state.one("sort"), by = state.one("by");
  const names = { hardest: "fewest runs right first", easiest: "most runs right first", disputed: "most disputed first" };
  return h("div", { class: "order" },
    h("label", {}, h("span", { class: "visually-hidden" }, "Order"), h("select", { id: "sort", onchange: (event) => state.change({ sort: event.target.value, by: set.measures.includes(event.target.value) ? by || set.runs[0].name : null }) },
      h("option", { value: "" }, "in the set's order"), set.orders.map((name) => h("option", { value: name, selected: name === chosen }, names[name] ?? `by ${name}`)))),
    set.measures.includes(chosen) ? h("label", {}, h("span", { class: "visually-hidden" }, "of which run"), h("select", { id: "by", onchange: (event) => state.change({ by: event.target.value }) }, set.runs.map((run) => h("option", { value: run.name, selected: run.name === by }, run.name)))) : null,
    h("button", { type: "button", class: "plain", id: "down", "aria-pressed": String(state.one("down") === "1"), title: "The other way round", onclick: () => state.change({ down: state.one("down") ? null : "1" }) }, "⇅"));
}
