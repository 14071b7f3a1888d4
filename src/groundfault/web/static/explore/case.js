import { ask } from "/static/net.js";
import { h, fill, badge, SIGNS } from "./dom.js";
import * as state from "./state.js";
import { thumb } from "./list.js";
import { Stage, noPicture } from "./picture.js";
import { drawNotes } from "./notes.js";
import { drawEpisode } from "./episode.js";

const hidden = (name) => state.has("hide", name);
const isOn = { target: () => state.one("target") !== "0", low: () => state.one("low") === "1" };
const set_to = (given) => state.change(given, { keepPage: true, replace: true });

export function startCase(place, current, { next, previous, changed }) {
  let asked = null, turn = 0, before = "";
  state.onChange(async () => {
    const name = state.one("case");
    place.hidden = !name;
    document.body.classList.toggle("with-case", Boolean(name));
    for (const row of document.querySelectorAll(".entries tr[data-name]")) row.classList.toggle("open", row.dataset.name === name);
    if (!name) {
      if (before) document.querySelector(`tr[data-name="${CSS.escape(before)}"] a`)?.focus({ preventScroll: true });
      before = asked = "";
      return;
    }
    const query = new URLSearchParams({ set: state.one("set"), case: name, t: state.one("t"), tau: state.one("tau") }).toString();
    if (query === asked) { apply(place); return; }
    asked = query;
    const mine = ++turn;
    try {
      const found = await ask(`/explore/api/case?${query}`);
      if (mine !== turn) return;
      draw(place, current(), found, { next, previous, changed });
      if (before !== name) { place.scrollTop = 0; if (!place.contains(document.activeElement)) place.focus({ preventScroll: true }); }
      before = name;
    } catch (problem) {
      if (mine === turn) fill(place, bar({ name }, { next, previous }), h("p", { class: "problem" }, problem.message));
    }
  });
}

function draw(place, set, { case: found, noted }, around) {
  const stage = new Stage();
  const inWords = set.kind === "questions";
  const own = found.questions.filter((question) => question.open), others = found.questions.filter((question) => !question.open);
  fill(place,
    bar(found, around),
    h("dl", { class: "facts" }, facts(set, found).map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value)))),
    strip(set, found),
    inWords ? h("div", { class: "exam" }, pictures(set, found, own[0], stage), h("div", {}, own.map((question) => words(set, question)))) : [toggles(place, set, stage), h("div", { class: `questions n${own.length}` }, own.map((question) => inMasks(set, found, question, stage)))],
    others.length ? h("details", { class: "others" }, h("summary", {}, `The other ${others.length} questions about this picture`), others.map((question) => words(set, question))) : null,
    h("div", { id: "episode" }),
    drawNotes(set, found, noted, around.changed),
    found.notes.map((note) => h("p", { class: "small soft" }, note)));
  apply(place);
}

function facts(set, found) {
  const asked = new Set(set.phrases);
  return found.facts.filter(([name]) => !asked.has(name));
}

function bar(found, { next, previous }) {
  const go = (name) => name && state.change({ case: name }, { keepPage: true, replace: true });
  return h("header", { class: "case-bar" }, h("h2", { id: "case-title" }, found.name),
    h("div", { class: "tools" },
      h("button", { type: "button", title: "Previous case (k)", "aria-label": "Previous case", onclick: () => go(previous()) }, "‹"),
      h("button", { type: "button", title: "Next case (j)", "aria-label": "Next case", onclick: () => go(next()) }, "›"),
      h("button", { type: "button", title: "Close (Esc)", "aria-label": "Close", onclick: () => state.change({ case: null }, { keepPage: true }) }, "✕")));
}

// The same edit at every dose, and the picture without it, or a question about both twins; below each how the runs did.
function strip(set, found) {
  if (found.siblings.length < 2) return null;
  return h("nav", { class: "strip", "aria-label": set.kind === "questions" ? "This case and its twin" : "Doses of this edit" }, found.siblings.map((each) => h("a", {
    href: "#", "aria-current": each.current ? "true" : null, title: each.name, onclick: (event) => { event.preventDefault(); state.change({ case: each.name }, { keepPage: true, replace: true }); },
  }, thumb(set.key, each.place), h("span", { class: "small" }, each.label || each.name),
    h("span", { class: "dots" }, each.right.map((right, run) => { const dot = h("i", { class: right === 1 ? "yes" : right === 0 ? "no" : "", title: `${set.runs[run].name}: ${right === 1 ? "right" : right === 0 ? "wrong" : "not known"}` }); dot.dataset.series = run % 8; return dot; })))));
}

function toggles(place, set, stage) {
  const names = set.runs.map((run) => run.name);
  const flip = (name) => set_to({ hide: hidden(name) ? state.all("hide").filter((each) => each !== name) : [...state.all("hide"), name] });
  return h("div", { class: "toggles", role: "group", "aria-label": "What is drawn" },
    set.runs.map((run, k) => h("button", { type: "button", class: "run-toggle", data: { run: String(k), name: run.name }, "aria-pressed": "true", onclick: () => flip(run.name) }, badge(k, run.name), h("span", { class: "run-name" }, run.name))),
    set.runs.length > 2 ? h("button", { type: "button", class: "plain", onclick: () => set_to({ hide: names.every(hidden) ? null : names }) }, "all / none") : null,
    h("button", { type: "button", class: "shows-target", onclick: () => set_to({ target: isOn.target() ? "0" : null }) }, "target"),
    set.has_t ? h("button", { type: "button", class: "shows-low", title: "Masks whose score is below t, dashed", onclick: () => set_to({ low: isOn.low() ? null : "1" }) }, "below t") : null,
    h("button", { type: "button", class: "plain", onclick: () => stage.reset() }, "whole picture"));
}

// Draw what the address says is to be drawn.
function apply(place) {
  place.classList.toggle("no-target", !isOn.target());
  place.classList.toggle("with-low", isOn.low());
  place.querySelector(".shows-target")?.setAttribute("aria-pressed", String(isOn.target()));
  place.querySelector(".shows-low")?.setAttribute("aria-pressed", String(isOn.low()));
  for (const button of place.querySelectorAll(".run-toggle")) {
    const off = hidden(button.dataset.name);
    button.setAttribute("aria-pressed", String(!off));
    for (const drawn of place.querySelectorAll(`.mask[data-run="${button.dataset.run}"], .answer[data-run="${button.dataset.run}"]`)) drawn.classList.toggle("off", off);
  }
}

function inMasks(set, found, question, stage) {
  const picture = question.pictures[0];
  return h("article", { class: "question" },
    h("h3", {}, h("small", {}, question.role), " ", question.query, question.present === null ? null : h("span", { class: "soft expected" }, question.present ? " · is there" : " · is not there")),
    question.truth ? h("p", { class: "truth" }, h("small", {}, "there is "), question.truth) : null,
    picture ? stage.picture({ src: `/explore/picture/${set.key}/${found.place}/${question.place}/0/large`, width: picture.width_px, height: picture.height_px, target: question.target, said: question.said, label: `${question.role} ${question.query}` }) : noPicture(),
    h("ul", { class: "answers" }, question.said.map((said) => answer(set, found, question, said))));
}

function answer(set, found, question, said) {
  const how = said.right === null ? "none" : said.right ? "right" : "wrong";
  const accepted = said.masks.filter((mask) => mask.accepted).length;
  const masks = said.masks.length ? `${accepted} of ${said.masks.length + said.more_masks} mask${said.masks.length + said.more_masks === 1 ? "" : "s"} accepted` : said.outcome === "ok" || !said.outcome ? "" : said.outcome;
  return h("li", { class: `answer ${how}`, data: { run: String(said.run) } }, badge(said.run, set.runs[said.run].name),
    h("div", {}, h("p", {}, h("b", { class: "verdict-mark" }, `${SIGNS[String(said.right)]} ${said.end || said.outcome || "no answer"}`), " ", h("span", { class: "soft" }, said.words)),
      h("p", { class: "small soft" }, [said.numbers, masks, said.reason].filter(Boolean).join(" · ")),
      said.text ? h("p", { class: "small quoted" }, said.text) : null,
      said.judge_text ? h("p", { class: "small quoted" }, `${said.judge}: ${said.judge_text}`) : null),
    said.episode ? h("button", { type: "button", class: "step-through", onclick: () => drawEpisode(document.getElementById("episode"), set, found, said.run, question.place) }, "Steps") : null);
}

function pictures(set, found, question, stage) {
  const labels = question.pictures.length === 2 ? ["first picture", "second picture"] : [""];
  return h("div", { class: `questions n${question.pictures.length}` }, question.pictures.map((picture, k) => h("figure", {},
    stage.picture({ src: `/explore/picture/${set.key}/${found.place}/${question.place}/${picture.number}/large`, width: picture.width_px, height: picture.height_px, target: "", said: [], label: labels[k] || question.query }),
    labels[k] ? h("figcaption", { class: "small soft" }, labels[k]) : null)));
}

function words(set, question) {
  return h("article", { class: "question in-words" },
    h("h3", {}, h("small", {}, question.role), " ", question.query),
    question.options.length ? h("ul", { class: "options" }, question.options.map(([letter, text, truth]) => h("li", { class: truth ? "truth" : "" }, h("b", {}, letter), " ", text, truth ? h("small", {}, " the truth") : null))) : null,
    question.truth ? h("p", { class: "truth" }, h("small", {}, "the truth "), question.truth) : null,
    question.rubric ? h("details", { class: "small soft" }, h("summary", {}, "How it is judged"), h("p", {}, question.rubric)) : null,
    h("ul", { class: "answers" }, question.said.map((said) => h("li", { class: `answer ${said.right === null ? "none" : said.right ? "right" : "wrong"}`, data: { run: String(said.run) } },
      badge(said.run, set.runs[said.run].name),
      h("div", {},
        h("p", {}, h("b", { class: "verdict-mark" }, `${SIGNS[String(said.right)]} ${said.end || "no answer"}`), " ", h("span", { class: "soft" }, [set.runs[said.run].name, said.mode].filter(Boolean).join(" · ")), said.reading ? [" ", h("span", { class: "reading" }, said.reading)] : null),
        said.text && said.text.trim() !== said.reading ? h("p", { class: "small quoted" }, said.text) : null,
        said.reasoning ? h("details", { class: "small soft" }, h("summary", {}, "What it thought"), h("p", { class: "quoted" }, said.reasoning)) : null,
        said.reason ? h("p", { class: "small problem" }, said.reason) : null,
        said.judge && (said.judge_text || said.judge !== "rule") ? h("p", { class: "small" }, h("span", { class: "soft" }, `judged by ${said.judge}`), said.judge_text ? [": ", h("q", { class: "judge" }, said.judge_text)] : null) : null,
        said.cause ? h("p", { class: "small" }, h("b", {}, said.cause), said.cause_text ? [" ", h("q", {}, said.cause_text)] : null) : null)))));
}
