import { ask } from "/static/net.js";
import { h, fill, badge } from "./dom.js";
import * as state from "./state.js";

// An agent's episode, one turn at a time.
export async function drawEpisode(place, set, found, run, item) {
  const query = new URLSearchParams({ set: state.one("set"), case: found.name, run, item });
  let episode;
  try { episode = await ask(`/explore/api/episode?${query}`); } catch (problem) { fill(place, h("p", { class: "problem" }, problem.message)); return; }
  let turn = 0;
  const article = h("article", { class: "episode", "aria-label": `Episode of ${set.runs[run].name}`, tabindex: "-1" });
  const show = (next, focus = true) => {
    turn = Math.min(episode.turns.length - 1, Math.max(0, next));
    const step = episode.turns[turn];
    fill(article,
      h("header", {}, h("h3", {}, badge(run, set.runs[run].name), " ", episode.query), h("span", { class: "ending" }, episode.ending), h("span", { class: "small soft" }, episode.facts.join(" · "))),
      h("div", { class: "step" },
        h("div", { class: "step-pictures" }, pictures(episode, turn).map((name) => h("img", { src: `/explore/episode/${set.key}/${run}/${found.place}/${item}/${name}`, alt: "", loading: "lazy" }))),
        h("div", {}, h("h4", {}, step.title), step.thought ? h("blockquote", {}, step.thought) : null, step.call ? h("p", {}, h("code", {}, step.call)) : null,
          step.result ? h("p", { class: step.problem ? "problem" : "" }, step.result) : null,
          step.scores.length ? h("p", { class: "small soft" }, `scores ${step.scores.map((score) => score.toFixed(2)).join(", ")}${step.left_out ? `; ${step.left_out} left out` : ""}`) : null)),
      h("nav", { class: "turns", "aria-label": "Turns" },
        h("button", { type: "button", class: "back", disabled: turn === 0, onclick: () => show(turn - 1) }, "‹ back"),
        episode.turns.map((each, k) => h("button", { type: "button", "aria-current": k === turn ? "step" : null, "aria-label": each.title, onclick: () => show(k) }, k ? String(k) : "?")),
        h("button", { type: "button", class: "on", disabled: turn === episode.turns.length - 1, onclick: () => show(turn + 1) }, "on ›")),
      episode.note ? h("p", { class: "small soft" }, episode.note) : null);
    if (focus) article.focus({ preventScroll: true });
  };
  article.addEventListener("keydown", (event) => {
    if (event.key === "ArrowRight") show(turn + 1);
    else if (event.key === "ArrowLeft") show(turn - 1);
  });
  fill(place, article);
  show(0);
  article.scrollIntoView({ block: "nearest" });
}

// Those of the turn; where it showed none, the last before it.
function pictures(episode, turn) {
  for (let k = turn; k >= 0; k--) if (episode.turns[k].pictures.length) return episode.turns[k].pictures;
  return [];
}
