// Sends the token behind the # of an invitation. It is taken out of the address, so that it is not left in the history.
import { send } from "./net.js";

const $ = id => document.getElementById(id);
let token = "";

function say(words) { $("said").textContent = words; }

async function enter(more = {}) {
  try {
    const { home } = await send("/join", { token, ...more });
    location.replace(home);
  } catch (problem) {
    const said = problem.said ?? {};
    if (said.wants_name) { say(more.name ? problem.message : "Welcome. Who are you?"); $("named").hidden = false; $("name").focus(); }
    else if (said.signed_in) { say(`In this browser you are signed in as ${said.signed_in}.`); $("switch").hidden = false; $("stay").focus(); }
    else say(problem.message);
  }
}

$("named").addEventListener("submit", event => { event.preventDefault(); enter({ name: $("name").value, switch: true }); });
$("switch").addEventListener("submit", event => { event.preventDefault(); $("switch").hidden = true; enter({ switch: true }); });
$("stay").addEventListener("click", () => location.replace(document.querySelector("main").dataset.home));

function begin() {
  token = location.hash.slice(1);
  if (!token) { say("Open the link that you were sent: this page alone lets nobody in."); return; }
  history.replaceState(null, "", location.pathname);
  enter();
}

addEventListener("hashchange", () => { if (location.hash) begin(); });       // a link that is opened here does not load the page again
begin();
