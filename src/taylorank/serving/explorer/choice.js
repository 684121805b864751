// What was chosen, as chips; a user's history by id; a pasted one.
import { request } from "./api.js";
import { $, announce, make } from "./dom.js";
import { change, choose, ink, isChosen, on, remove, replaceChoice, state } from "./state.js";

const FOLDED = 24;
const MOST_PASTED = 2000;
let isFolded = true;

function showIgnored({ ignored = [] }) {
  $("ignored").textContent = ignored.length ? `Not known to this model: ${ignored.slice(0, 5).join(", ")}${ignored.length > 5 ? " …" : ""}` : "";
}

function draw() {
  const shown = isFolded ? state.chosen.slice(0, FOLDED) : state.chosen;
  const rest = state.chosen.length - shown.length;
  const more = rest ? make("li", {}, make("button", { type: "button", class: "chip more", on: { click: unfold } }, `+ ${rest} more`)) : null;
  $("chips").replaceChildren(...shown.map(chip), ...(more ? [more] : []));
  $("no-choice").hidden = state.chosen.length > 0;
  $("clear").hidden = state.chosen.length === 0;
}

function unfold() {
  isFolded = false;
  draw();
}

function chip(one) {
  const times = one.strength === 1 ? null : make("small", {}, ` ×${Number(one.strength.toPrecision(3))}`);
  return make("li", {},
    make("button", {
      type: "button", class: "chip chosen", "aria-label": `Remove ${one.title}`, style: { "--own": ink(one.colour) },
      on: { click: () => removeFrom(one) },
    }, make("span", { class: "blob" }), make("span", { class: "name" }, one.title), times, make("span", { class: "cross", "aria-hidden": "true" }, "×")));
}

/** Remove one and keep the focus near, for people who use the keyboard. */
function removeFrom(one) {
  const at = state.chosen.indexOf(one);
  remove(one.id);
  const left = $("chips").querySelectorAll("button");
  (left[Math.min(at, left.length - 1)] ?? $("search")).focus();
}

/** A pill that adds or removes an item. */
export function pill(item) {
  return make("button", {
    type: "button", class: "chip", "aria-pressed": String(isChosen(item.id)),
    on: { click: () => (isChosen(item.id) ? remove(item.id) : choose(item)) },
  }, item.title);
}

function surprise() {
  const left = [...state.catalogue].filter(([id]) => !isChosen(id));
  if (!left.length) return announce("There is no map to draw from yet");
  const [id, title] = left[Math.floor(Math.random() * left.length)];
  choose({ id, title });
}

async function loadUser(event) {
  event.preventDefault();
  const id = $("user").value.trim();
  if (!id) return say("Give the id of a user.");
  say("Loading …");
  try {
    const query = state.model ? `?model=${encodeURIComponent(state.model.name)}` : "";
    const answer = await request(`v1/users/${encodeURIComponent(id)}${query}`);
    const items = answer.history.map((one) => ({ id: one.item, title: one.title, strength: one.strength }));
    isFolded = true;
    replaceChoice(items, answer.user);
    say(items.length ? `${count(items.length)} of user ${id}.` : `User ${id} has no history here.`);
  } catch (error) {
    say(error.message);
  }
}

async function usePasted(event) {
  event.preventDefault();
  const lines = parsePasted($("history").value);
  if (!lines.length) return say("Write or paste some items first.");
  say("Looking them up …");
  try {
    const items = await resolve(lines.slice(0, MOST_PASTED));
    const unknown = lines.filter((_, at) => !items[at]).map((line) => line.name);
    const known = items.filter(Boolean);
    if (known.length) {
      isFolded = true;
      replaceChoice(known);
    }
    const missing = unknown.length ? ` Not known: ${unknown.slice(0, 5).join(", ")}${unknown.length > 5 ? " …" : ""}.` : "";
    say(`${count(known.length)} taken over.${missing}`);
  } catch (error) {
    say(error.message);
  }
}

const count = (n) => (n === 1 ? "1 item" : `${n.toLocaleString("en")} items`);

/** Lines, or parts between commas or semicolons; after a tab a strength may follow. */
export function parsePasted(text) {
  const parts = text.includes("\n") ? text.split("\n") : text.split(/[,;]/);
  return parts.map((part) => part.trim()).filter(Boolean).map((part) => {
    const [, name, strength] = part.match(/^(.*?)(?:\t\s*([\d.]+))?$/);
    return { name: name.trim(), strength: Number(strength) > 0 ? Number(strength) : 1 };
  });
}

/** Find items by id or title: in what the map knows, else by the server's search. */
async function resolve(lines) {
  const known = new Map();
  for (const [id, title] of state.catalogue) known.set(title.toLowerCase(), { id, title });
  for (const [id, title] of state.catalogue) known.set(String(id).toLowerCase(), { id, title });
  const items = [];
  for (const { name, strength } of lines) {
    const item = known.get(name.toLowerCase()) ?? (state.catalogue.size ? null : await searched(name));
    items.push(item ? { ...item, strength } : null);
  }
  return items;
}

async function searched(name) {
  const answer = await request(`v1/items?${new URLSearchParams({ q: name, n: 5 })}`);
  const plain = name.toLowerCase();
  return answer.items.find((item) => String(item.id).toLowerCase() === plain || item.title.toLowerCase() === plain) ?? null;
}

function say(text) {
  $("load-message").textContent = text;
}

export function startChoice() {
  on("choice", draw);
  $("surprise").addEventListener("click", surprise);
  $("clear").addEventListener("click", () => {
    replaceChoice([]);
    $("search").focus();
  });
  $("load-user").addEventListener("submit", loadUser);
  $("paste").addEventListener("submit", usePasted);
  on("named", draw);
  on("answer", showIgnored);
  on("model", () => change("choice", {}));
}
