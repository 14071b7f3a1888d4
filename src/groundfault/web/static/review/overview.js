// The owner's page: progress, agreement, people, invitations. It asks again while it is looked at.
import { ask, send } from "../net.js";

const $ = id => document.getElementById(id), EVERY_MS = 5000, NOTABLE_P = 0.01;
const STATES = ["accepted", "rejected", "split", "open"];
const WORDS = { accepted: "accepted", rejected: "rejected", split: "adjudication", open: "open" };

const percent = share => share === null ? "–" : `${Math.round(100 * share)} %`;
const seconds = value => value === null ? "–" : value < 10 ? value.toFixed(1) : String(Math.round(value));
const decimals = value => value.toFixed(2).replace(/^-(?=0\.00$)/, "").replace("-", "−");
const estimate = e => e.value === null ? "–" : e.low === null ? decimals(e.value) : `${decimals(e.value)} (${decimals(e.low)} to ${decimals(e.high)})`;

function element(tag, words = "", classes = "") {
  const made = document.createElement(tag);
  if (words !== "") made.textContent = words;            // names of people and kinds are text, never markup
  if (classes) made.className = classes;
  return made;
}

function table(heads, rows, empty) {
  if (!rows.length) return element("p", empty, "soft");
  const made = element("table"), head = element("tr"), body = element("tbody");
  heads.forEach((words, k) => { const cell = element("th", words, k ? "number" : ""); cell.scope = "col"; head.append(cell); });
  for (const row of rows) {
    const line = element("tr");
    row.forEach((value, k) => {
      const cell = element(k ? "td" : "th", value instanceof Node ? "" : value, k ? "number" : "");
      if (!k) cell.scope = "row";
      if (value instanceof Node) cell.append(value);
      line.append(cell);
    });
    body.append(line);
  }
  const top = element("thead");
  top.append(head);
  made.append(top, body);
  return made;
}

function meter(counts) {
  const total = STATES.reduce((sum, state) => sum + (counts[state] ?? 0), 0), bar = element("span", "", "meter");
  for (const state of ["accepted", "rejected", "split"]) { const part = element("span", "", state); part.style.width = `${100 * (counts[state] ?? 0) / total}%`; bar.append(part); }
  bar.setAttribute("aria-hidden", "true");
  return bar;
}

function showProgress({ progress, kinds }) {
  const all = Object.values(progress).reduce((sum, counts) => { for (const [state, n] of Object.entries(counts)) sum[state] = (sum[state] ?? 0) + n; return sum; }, {});
  const total = STATES.reduce((sum, state) => sum + (all[state] ?? 0), 0), ended = (all.accepted ?? 0) + (all.rejected ?? 0);
  const kept = ended ? `, ${percent((all.accepted ?? 0) / ended)} of them accepted` : "";
  $("headline").textContent = `${ended} of ${total} items are settled${kept}; ${all.split ?? 0} wait for an adjudicator.`;
  const row = (name, counts) => [name, ...STATES.map(state => String(counts[state] ?? 0)), meter(counts)];
  const rows = counts => Object.entries(counts).map(([name, of]) => row(name, of)), heads = [...STATES.map(state => WORDS[state]), ""];
  $("progress").replaceChildren(table(["decided in, or now in", ...heads], rows(progress), "Nothing yet."));
  if (Object.keys(kinds).length > 1) $("progress").append(table(["kind of edit", ...heads], rows(kinds), ""));
}

function showAgreement({ agreement }) {
  const rows = agreement.map(a => [a.kind ? `${a.stage}, ${a.kind}` : a.stage, String(a.items), percent(a.unanimous / a.items), estimate(a.kappa), estimate(a.alpha)]);
  $("agreement").replaceChildren(table(["stage", "items", "unanimous", "κ", "α"], rows, "Nobody has decided about the same item as somebody else yet."));
}

function showPeople({ reviewers }) {
  const me = document.body.dataset.person;
  const rows = reviewers.map(r => {
    const drift = r.drift !== null && r.drift < NOTABLE_P;
    const recently = element("span", r.recently === null ? "–" : `${percent(r.recently)}, ${seconds(r.recent_seconds)} s${drift ? " · changed" : ""}`, drift ? "drift" : "");
    const buttons = element("span");
    if (!r.removed) buttons.append(button("New link", () => invite({ role: r.role, name: r.name, seats: 1 })));
    if (!r.removed && r.name !== me) buttons.append(" ", button("Remove", () => remove(r.name)));
    return [r.removed ? `${r.name} (removed)` : r.name, r.role, String(r.decided), String(r.skipped), seconds(r.seconds), percent(r.accepted), recently, r.gold ? `${r.gold_right} of ${r.gold}` : "–", percent(r.with_others), buttons];
  });
  $("people").replaceChildren(table(["name", "role", "decided", "skipped", "seconds", "accepts", "recently", "gold right", "with others", ""], rows, ""));
}

function showReasons({ reasons }) {
  const most = Math.max(1, ...reasons.map(([, n]) => n));
  $("reasons").replaceChildren(...(reasons.length ? reasons.flatMap(([id, n]) => { const bar = element("i"); bar.style.width = `${100 * n / most}%`; return [element("span", id), bar, element("span", String(n))]; }) : [element("span", "Nothing was rejected yet.", "empty")]));
}

function button(words, act) {
  const made = element("button", words);
  made.type = "button";
  made.addEventListener("click", act);
  return made;
}

async function invite(wanted) {
  const box = $("link");
  box.hidden = false;
  try {
    const { link } = await send("/api/invite", wanted), code = element("code", link);
    box.replaceChildren(element("span", "This link is shown once. Send it over a channel that you trust:"), code, button("Copy", () => navigator.clipboard?.writeText(link)));
  } catch (problem) { box.textContent = problem.message; }
  refresh();
}

async function remove(name) {
  if (!confirm(`Remove ${name}? What they decided stays.`)) return;
  await send("/api/remove", { name }).catch(problem => { $("headline").textContent = problem.message; });
  refresh();
}

$("invite").addEventListener("submit", event => {
  event.preventDefault();
  const form = event.target, name = form.elements.namedItem("name").value.trim();
  invite({ role: form.elements.namedItem("role").value, name, seats: name ? 1 : Number(form.elements.namedItem("seats").value) });
});

let last = "";
async function refresh() {
  try {
    const overview = await ask("/api/overview"), now = JSON.stringify(overview);
    if (now === last) return;                 // nothing that somebody reads or points at is drawn anew for nothing
    last = now;
    for (const show of [showProgress, showAgreement, showPeople, showReasons]) show(overview);
    document.body.dataset.ready = "1";
  } catch (problem) { $("headline").textContent = `${problem.message}. It is tried again.`; last = ""; }
}

refresh();
setInterval(() => { if (!document.hidden) refresh(); }, EVERY_MS);
