// The review screen: one item after the other, by keyboard, pointer or touch. Decisions are shown at once and sent behind; see outbox.js.
import { ask, send } from "../net.js";
import { Outbox } from "./outbox.js";
import { outlined, Pictures } from "./pictures.js";
import { followPointers } from "./pointers.js";
import { Questions } from "./questions.js";
import { Touchup } from "./touchup.js";
import { MODES, View } from "./view.js";

const $ = id => document.getElementById(id);
const { section, person } = document.body.dataset;
const pictures = new Pictures(), view = new View($("view"), $("captions")), questions = new Questions($("questions"));
const ADJUDICATION = "adjudication:", STEP = 0.04, PAN_PX = 60;
const state = { queue: [], history: [], draft: null, done: 0, skipped: 0, total: 0, protocols: {}, busy: false, learning: null, awaited: null, passed: new Set() };

const outbox = new Outbox(person, {
  answered(answer, batch) { settle(answer, batch); },
  changed(waiting, problem) {
    const words = problem ? `${problem}: ${waiting} not saved yet, kept in this browser` : waiting ? `saving ${waiting} …` : "all saved";
    if ($("saved").textContent !== words) $("saved").textContent = words;
    $("saved").classList.toggle("wrong", !!problem);
    document.body.dataset.waiting = waiting;
  },
  have: () => state.queue.map(entry => [entry.item.id, entry.stage]),
  refused(problem) { say(problem.status === 401 ? "You are signed out: open your invitation again. What waits is kept in this browser." : problem.message); },
});

// ── what is shown ──

const keyOf = entry => `${entry.item.id}\n${entry.stage}`;
const current = () => state.queue[0];
const rulesOf = entry => {
  const protocol = state.protocols[entry.item.protocol], stage = protocol.stages.find(s => s.name === entry.rules);
  const known = new Map(protocol.reasons.map(reason => [reason.id, reason]));
  const offered = stage.reasons.length ? stage.reasons.map(id => known.get(id)) : protocol.reasons;
  return { protocol, stage, reasons: offered.filter(reason => !reason.kinds.length || reason.kinds.includes(entry.item.kind)) };
};

function freshDraft() { return { reasons: new Set(), texts: {}, mask: null, comment: "", flagged: false, shown: performance.now() }; }

async function show(pressed = null) {
  const entry = current();
  view.layer = null;
  $("tools").hidden = true;
  if (!entry) { showEnd(); return; }
  delete document.body.dataset.end;
  const draft = state.draft = entry.draft ?? freshDraft();
  draft.shown = performance.now();
  describe(entry, draft);
  const ready = pictures.get(entry) ?? await fetched(entry);
  if (entry !== current()) return;           // somebody went on meanwhile
  $("veil").hidden = !!ready;
  if (!ready) return;
  if (draft.mask) ready.touched = outlined(draft.mask);
  view.show(withTouched(ready), entry.item.texts, entry.item.kind === "counting" ? ["its twin", "this picture"] : undefined);
  draft.shown = performance.now();
  if (pressed !== null) performance.measure("next picture", { start: pressed, end: performance.now() });
  document.body.dataset.item = entry.item.id;
  document.body.dataset.stage = entry.stage;
  prefetch();
}

function withTouched(ready) {
  if (!ready.touched) return ready;
  return ready.fresh ? { ...ready, fresh: ready.touched } : { ...ready, target: ready.touched };
}

async function fetched(entry) {
  veil("Loading …");
  try { return await pictures.load(entry); }
  catch (problem) { veil("This picture cannot be shown. Skip the item, or try again by reloading the page."); return null; }
}

function veil(words) { $("veil").textContent = words; $("veil").hidden = false; }

function prefetch() {
  const next = state.queue.slice(0, 6);
  pictures.keep([...next, ...state.history.slice(-2).map(h => h.entry).filter(Boolean)]);
  setTimeout(() => next.slice(1).forEach(entry => pictures.load(entry).catch(() => {})));
}

function describe(entry, draft) {
  const { protocol, stage, reasons } = rulesOf(entry), { item } = entry;
  document.body.classList.remove("ended");
  $("kind").textContent = item.kind;
  $("stage-title").textContent = entry.stage === "warm-up" ? `Warm-up · ${stage.title}` : entry.why ? `${stage.title} · ${entry.why}` : stage.title;
  $("item-id").textContent = item.id;
  $("question").textContent = stage.question;
  $("stage").setAttribute("aria-label", `Original and edited picture, ${item.kind}. ${Object.values(item.texts).join(". ")}`);
  $("feedback").hidden = true;
  showTexts(entry, draft, protocol, stage);
  showQuestions(entry, draft, stage);
  showChecks(item.checks ?? {});
  showReasons(reasons, draft);
  showOpinions(entry);
  $("comment").value = draft.comment;
  act("touchup").hidden = !stage.mask || !(item.mask_after ?? item.mask);
  act("corners").hidden = !item.mask_after;
  if (!state.chosen || (state.chosen === "corners" && !item.mask_after)) view.mode = stage.layout === "corners" && !item.mask_after ? "side" : stage.layout;
  document.querySelector(".panel .scroll").scrollTop = 0;
  mark();
  count();
}

function showTexts(entry, draft, protocol, stage) {
  const { item, original } = entry, labels = protocol.texts ?? {};
  const names = [...Object.keys(labels).filter(name => name in item.texts), ...Object.keys(item.texts).filter(name => !(name in labels))];
  $("texts").replaceChildren(...names.map(name => {
    const row = document.createElement("div"), label = document.createElement("label"), id = `text-${name}`;
    label.textContent = labels[name] ?? name;
    row.className = `text ${["positive", "negative"].includes(name) ? name : "other"}`;
    const shown = draft.texts[name] ?? item.texts[name];
    if (stage.correct.includes(name)) {
      const input = document.createElement("input");
      Object.assign(input, { id, value: shown, maxLength: 10000, autocomplete: "off", spellcheck: true });
      label.htmlFor = id;
      const before = was(original[name] ?? item.texts[name], shown);
      input.addEventListener("input", () => {
        const value = input.value.trim();
        if (value && value !== item.texts[name]) draft.texts[name] = value; else delete draft.texts[name];
        before.textContent = words(original[name] ?? item.texts[name], value || item.texts[name]);
      });
      row.append(label, input, before);
    } else {
      const text = document.createElement("p");
      text.id = id;
      text.textContent = shown;
      label.removeAttribute("for");
      const heading = document.createElement("span");
      heading.className = "label";
      heading.textContent = label.textContent;
      row.append(heading, text, was(original[name] ?? shown, shown));
    }
    return row;
  }));
}

const words = (before, now) => before === now ? "" : `was: ${before}`;
function was(before, now) {
  const small = document.createElement("small");
  small.className = "was";
  small.textContent = words(before, now);
  return small;
}

function showQuestions(entry, draft, stage) {
  $("questions").hidden = !stage.questions && !entry.item.questions.length;
  document.body.classList.toggle("with-questions", stage.questions);
  if (stage.questions) { questions.show(draft.questions ?? entry.item.questions, entry.item.kind); questions.first = JSON.stringify(entry.item.questions); return; }
  $("questions").hidden = true;
}

function showChecks(checks) {
  const names = Object.keys(checks);
  $("checks").hidden = !names.length;
  $("checks").querySelector("dl").replaceChildren(...names.flatMap(name => {
    const term = document.createElement("dt"), value = document.createElement("dd");
    term.textContent = name;
    value.textContent = typeof checks[name] === "number" ? +checks[name].toPrecision(3) : typeof checks[name] === "boolean" ? (checks[name] ? "yes" : "no") : checks[name];
    return [term, value];
  }));
}

function showReasons(reasons, draft) {
  state.reasons = reasons;
  $("reasons").replaceChildren(...reasons.map((reason, k) => {
    const button = document.createElement("button"), key = document.createElement("kbd");
    key.textContent = k < 10 ? String((k + 1) % 10) : k < 20 ? `⇧${(k + 1) % 10}` : "";
    button.type = "button";
    button.append(...(k < 20 ? [key] : []), ` ${reason.words}`);
    if (/^[A-Z]+-\d+$/.test(reason.id)) { const id = document.createElement("small"); id.textContent = reason.id; button.append(id); }
    button.setAttribute("aria-pressed", draft.reasons.has(reason.id));
    button.addEventListener("click", () => toggleReason(k));
    return button;
  }));
}

function toggleReason(k) {
  const reason = state.reasons[k], { reasons } = state.draft ?? {};
  if (!reason || !reasons) return;
  if (!reasons.delete(reason.id)) reasons.add(reason.id);
  $("reasons").children[k].setAttribute("aria-pressed", reasons.has(reason.id));
}

function showOpinions(entry) {
  const box = $("opinions");
  box.hidden = !entry.opinions;
  if (!entry.opinions) return;
  const list = document.createElement("ul");
  list.className = "opinions";
  for (const opinion of entry.opinions) {
    const row = document.createElement("li"), who = document.createElement("b"), verdict = document.createElement("span");
    who.textContent = opinion.reviewer;
    verdict.className = `verdict ${opinion.verdict}`;
    verdict.textContent = `${opinion.verdict}${opinion.flagged ? " · flagged" : ""} · ${opinion.stage}`;
    row.append(who, " ", verdict);
    const more = [opinion.reasons.join(", "), ...Object.entries(opinion.texts).map(([name, text]) => `${name}: “${text}”`), opinion.mask ? "mask touched up" : "", opinion.comment];
    for (const line of more.filter(Boolean)) { const p = document.createElement("p"); p.textContent = line; row.append(p); }
    list.append(row);
  }
  box.replaceChildren(list);
}

function showEnd() {
  state.draft = null;
  view.shown = null;
  view.draw();
  $("captions").replaceChildren();
  document.body.classList.add("ended");
  if (!outbox.size) document.body.dataset.end = "1";              // what is being saved may open a further stage
  delete document.body.dataset.item;
  const left = section === "adjudication" ? "Nothing waits for an adjudicator." : "Nothing is left for you here. Thank you!";
  veil(outbox.size ? "Saving what you decided …" : left);
  if (state.skipped && !outbox.size) {
    const button = document.createElement("button");
    button.textContent = `Take up ${state.skipped} that you skipped`;
    button.addEventListener("click", async () => { const answer = await send("/api/skipped"); state.queue = answer.items; state.skipped = answer.skipped; $("veil").hidden = true; show(); });
    $("veil").append(document.createElement("br"), button);
  }
  count();
}

function count() {
  const waiting = outbox.work.filter(work => work.op === "decide" && work.verdict !== "skip").length;
  $("progress").textContent = section === "adjudication" ? `${state.total} wait` : `${state.done + waiting} decided by you · ${state.total} items`;
}

function say(words) { $("said").textContent = words; }

// ── deciding ──

async function decide(verdict, pressed) {
  const entry = current(), draft = state.draft;
  if (!entry || !draft || state.busy) return;
  const { stage } = rulesOf(entry);
  if (verdict === "reject" && stage.reason_needed && !draft.reasons.size) { say("Say why: press a reason first."); return; }
  if (view.layer) finishMask();
  if (stage.questions && verdict === "accept" && !await questionsAreSound()) { say("A question is not in order yet."); return; }
  const right = entry.feedback;
  if (right && verdict !== "skip" && !state.learning && verdict !== right) { learn(verdict, right); send_(entry, draft, verdict); return; }
  if (!state.learning) send_(entry, draft, verdict);
  if (right && !state.learning) say(verdict === right ? `Right: this one is ${right === "accept" ? "good" : "to be rejected"}.` : "Skipped.");
  else say(`${{ accept: "Accepted", reject: "Rejected", skip: "Skipped" }[verdict]}: ${entry.item.id}`);
  next(pressed);
}

function send_(entry, draft, verdict) {
  const key = crypto.randomUUID?.() ?? Array.from(crypto.getRandomValues(new Uint8Array(16)), b => b.toString(16).padStart(2, "0")).join("");
  const work = { op: "decide", key, item_id: entry.item.id, stage: entry.stage, verdict, reasons: verdict === "reject" ? [...draft.reasons] : [], texts: draft.texts,
    mask: draft.mask, comment: draft.comment.trim(), flagged: draft.flagged, seconds: (performance.now() - draft.shown) / 1000 };
  if (rulesOf(entry).stage.questions && questions.changed) { work.questions = questions.list; draft.questions = questions.list; }
  entry.draft = draft;
  if (verdict === "skip") state.passed.add(keyOf(entry));
  state.history.push({ key, item: entry.item.id, entry });
  outbox.push(work);
}

function next(pressed) {
  state.learning = null;
  state.queue.shift();
  show(pressed);
}

async function questionsAreSound() {
  state.busy = true;
  try { return await questions.check(); }
  catch (problem) { say(problem.message); return false; }
  finally { state.busy = false; }
}

// A wrong verdict in the warm-up stays on the screen until it was read.
function learn(verdict, right) {
  state.learning = { verdict, right };
  const box = $("feedback"), button = document.createElement("button");
  box.textContent = `You would ${verdict} this one; it is known to be ${right === "accept" ? "good" : "one to reject"}. Look again. `;
  button.textContent = "Go on";
  button.className = "primary";
  button.addEventListener("click", () => next(null));
  box.append(button);
  box.hidden = false;
  button.focus();
}

function undo() {
  if (state.learning) { state.learning = null; $("feedback").hidden = true; }
  const last = state.history.pop();
  if (!last) { say("There is nothing to undo."); return; }
  outbox.push({ op: "undo", key: last.key });
  say(`Taken back: ${last.item}`);
  if (!last.entry) { state.awaited = last.item; return; }         // decided before this page was opened: the server's answer brings it
  if (current()?.item.id !== last.item) state.queue.unshift(last.entry);
  show();
}

// What the server answered: decisions that were refused, and the next items as it sees them.
function settle(answer, batch) {
  for (const [k, result] of answer.results.entries()) {
    if (!result.error) continue;
    const work = batch[k], place = state.history.findIndex(h => h.key === work.key);
    say(`Not counted (${work.item_id ?? "undo"}): ${result.error}`);
    if (work.op !== "decide") continue;
    const [lost] = place < 0 ? [] : state.history.splice(place, 1);
    if (result.status === 400 && lost?.entry) state.queue.splice(current() ? 1 : 0, 0, lost.entry);
  }
  if (answer.done !== undefined) { state.done = answer.done; state.skipped = answer.skipped; }
  if (section === "adjudication") { refill(); return; }
  merge(answer.items);
}

// The server's list is right once nothing waits to be sent; until then it can only add.
function merge(items) {
  const before = current(), local = new Map(state.queue.map(entry => [keyOf(entry), entry]));
  const known = items.map(entry => local.get(keyOf(entry)) ?? entry).filter(entry => !outbox.has(entry.item.id));
  const fresh = known.filter(entry => entry.item.protocol);
  if (fresh.length < known.length && !outbox.size) { refill(); return; }          // it had this one when it asked, and no more
  if (!outbox.size) {
    state.queue = fresh;
    const kept = state.queue.findIndex(entry => entry === before);
    const awaited = state.queue.findIndex(entry => entry.item.id === state.awaited), first = awaited < 0 ? kept : awaited;
    if (first > 0) state.queue.unshift(...state.queue.splice(first, 1));
    if (before && kept < 0 && state.learning) state.queue.unshift(before);
    state.awaited = null;
  } else state.queue.push(...fresh.filter(entry => !local.has(keyOf(entry))));
  if (current() !== before || !before) show();
  else { prefetch(); count(); }
}


async function refill() {
  if (section === "adjudication") {
    const { splits, total } = await ask("/api/splits");
    state.total = total;
    const before = current(), local = new Map(state.queue.map(entry => [keyOf(entry), entry]));
    const fresh = splits.map(split => local.get(keyOf(split.shown)) ?? { ...split.shown, why: split.why, opinions: split.decisions }).filter(entry => !outbox.has(entry.item.id));
    fresh.sort((a, b) => state.passed.has(keyOf(a)) - state.passed.has(keyOf(b)));        // what was skipped comes last
    state.queue = fresh;
    const kept = fresh.indexOf(before);
    if (kept > 0) { fresh.splice(kept, 1); fresh.unshift(before); }
    if (current() !== before || !before) show(); else count();
    return;
  }
  const answer = await ask("/api/queue");
  state.done = answer.done;
  state.skipped = answer.skipped;
  merge(answer.items);
}

// ── the mask under the brush ──

function editMask(tool) {
  const entry = current(), { stage } = entry ? rulesOf(entry) : {};
  if (!entry || !stage.mask) return;
  if (!view.layer) {
    const shown = view.shown.fresh ?? view.shown.target;
    if (!shown) return;
    view.layer = new Touchup(shown.mask, shown.height, shown.width);
    $("tools").hidden = false;
  }
  if (view.layer.tool === "polygon" && tool !== "polygon") view.layer.close();
  view.layer.tool = tool;
  mark();
  view.redraw();
}

function finishMask() {
  const { layer } = view;
  layer.close();
  if (layer.touched) {
    state.draft.mask = layer.rle();
    const ready = pictures.get(current());
    ready.touched = outlined(state.draft.mask);
    view.shown = withTouched(ready);
    say("The mask is touched up; it is saved with your verdict.");
  }
  leaveMask();
}

function leaveMask() {
  view.layer = null;
  $("tools").hidden = true;
  mark();
  view.redraw();
}

function resetMask() {
  const ready = pictures.get(current());
  state.draft.mask = null;
  delete ready.touched;
  view.shown = ready;
  view.layer = null;
  editMask("brush");
}

view.zoomed = zoom => { const words = zoom > 1 ? `${zoom.toFixed(1)}×` : ""; if ($("zoom").textContent !== words) $("zoom").textContent = words; };

// ── keys and buttons ──

const setMode = mode => { view.layer && finishMask(); state.chosen = mode; view.set(mode); mark(); };
const acts = {
  accept: pressed => decide("accept", pressed),
  reject: pressed => decide("reject", pressed),
  skip: pressed => decide("skip", pressed),
  undo,
  flag() { if (!state.draft) return; state.draft.flagged = !state.draft.flagged; say(state.draft.flagged ? "Flagged: an adjudicator will look at it." : "Not flagged."); mark(); },
  side: () => setMode("side"),
  slider: () => setMode("slider"),
  difference: () => setMode("difference"),
  corners: () => { if (current()?.item.mask_after) setMode("corners"); },
  blink() { if (view.mode !== "blink") { setMode("blink"); view.original = true; } else view.original = !view.original; view.draw(); mark(); },
  outline() { view.outline = !view.outline; view.draw(); mark(); },
  "zoom-in": () => view.zoomBy(1.4),
  "zoom-out": () => view.zoomBy(1 / 1.4),
  fit: () => view.reset(),
  touchup: () => view.layer ? finishMask() : editMask("brush"),
  brush: () => editMask("brush"),
  eraser: () => editMask("eraser"),
  polygon: () => editMask("polygon"),
  smaller() { view.layer?.grow(1 / 1.25); view.redraw(); },
  larger() { view.layer?.grow(1.25); view.redraw(); },
  "stroke-back"() { view.layer?.undo(); view.redraw(); },
  "mask-done": () => view.layer && finishMask(),
  "mask-reset": resetMask,
  help: () => $("help").showModal(),
  comment: () => $("comment").focus(),
  edit() { (document.querySelector("#texts input, #questions textarea") ?? $("comment")).focus(); },
};
const KEYS = { a: "accept", r: "reject", s: "skip", z: "undo", Backspace: "undo", f: "flag", c: "comment", e: "edit", " ": "blink", v: "side", w: "slider", d: "difference", k: "corners", o: "outline",
  "+": "zoom-in", "=": "zoom-in", "-": "zoom-out", h: "fit", Home: "fit", b: "brush", x: "eraser", p: "polygon", "?": "help" };
const MASK_KEYS = { z: "stroke-back", Backspace: "stroke-back", m: "mask-done", "[": "smaller", "]": "larger", b: "brush", x: "eraser", p: "polygon" };
const act = name => document.querySelector(`[data-act="${name}"]`);

function mark() {
  const pressed = { outline: view.outline, flag: !!state.draft?.flagged, touchup: !!view.layer };
  for (const mode of MODES) pressed[mode] = !view.layer && view.mode === mode;
  for (const tool of ["brush", "eraser", "polygon"]) pressed[tool] = view.layer?.tool === tool;
  for (const [name, on] of Object.entries(pressed)) act(name)?.setAttribute("aria-pressed", on);
}

function arrows(name) {
  const [dx, dy] = { ArrowLeft: [1, 0], ArrowRight: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[name];
  if (view.mode === "slider" && dx && !view.layer && view.zoom === 1) { view.slider = Math.min(1, Math.max(0, view.slider - dx * STEP)); view.redraw(); }
  else if (view.zoom > 1) view.panBy(dx * PAN_PX, dy * PAN_PX);
}

addEventListener("keydown", event => {
  const { target } = event, typing = target.closest?.("input:not([type=radio]), textarea, select");
  if ($("help").open) return;
  if (typing) {
    if (event.key === "Escape" || (event.key === "Enter" && (target.tagName === "INPUT" || event.ctrlKey || event.metaKey))) { event.preventDefault(); $("stage").focus(); }
    return;
  }
  if (event.altKey || ((event.ctrlKey || event.metaKey) && event.key !== "z")) return;
  const digit = /^(?:Digit|Numpad)(\d)$/.exec(event.code);
  if (digit && !event.ctrlKey && !(event.code.startsWith("Numpad") && !/\d/.test(event.key))) {
    event.preventDefault();
    toggleReason((Number(digit[1]) + 9) % 10 + (event.shiftKey ? 10 : 0));
    return;
  }
  if (event.key === "Enter" || event.key === " ") {
    if (view.layer && event.key === "Enter" && !target.closest("button")) { view.layer.close(); view.redraw(); event.preventDefault(); return; }
    if (target.closest?.("button, a, summary") && (event.key === "Enter" || target.closest(".feedback"))) return;   // a button's own keys
    if (event.key === "Enter") return;
  }
  if (event.key === "Escape" && view.layer) { leaveMask(); return; }
  if (event.key.startsWith("Arrow")) { if (view.shown && !target.closest?.(".scroll")) { event.preventDefault(); arrows(event.key); } return; }
  const name = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const chosen = (view.layer && MASK_KEYS[name]) || KEYS[name];
  if (!chosen || (event.repeat && ["accept", "reject", "skip", "undo", "blink"].includes(chosen))) { if (chosen) event.preventDefault(); return; }
  event.preventDefault();
  acts[chosen](event.timeStamp);
});

document.querySelectorAll("[data-act]").forEach(button => button.addEventListener("click", event => {
  acts[button.dataset.act](event.timeStamp);
  if (!["help", "comment", "edit"].includes(button.dataset.act) && event.detail) $("stage").focus({ preventScroll: true });   // clicked, not by keyboard
}));
$("comment").addEventListener("input", () => { if (state.draft) state.draft.comment = $("comment").value; });

followPointers($("view"), view, { pressed: () => $("stage").focus({ preventScroll: true }), lifted: mark });

// ── begin ──

async function begin() {
  const rules = await ask("/api/rules");
  state.protocols = rules.protocols;
  state.total = rules.total;
  state.history = rules.history.map(({ key, item }) => ({ key, item }));
  await outbox.flush();
  await refill();
  outbox.changed(outbox.size, "");
  $("stage").focus({ preventScroll: true });
}

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => view.draw());
begin().catch(problem => veil(`${problem.message}. Reload the page to try again.`));
