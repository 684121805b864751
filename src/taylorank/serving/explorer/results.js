// The list: what is recommended, how strongly, and because of what.
import { latest, request } from "./api.js";
import { $, announce, make, prefersStillness } from "./dom.js";
import { change, choose, colourOf, ink, state } from "./state.js";

const STEP = 12;
const MOST = 60;

const ask = latest((signal) => request("v1/recommend", { signal, body: body() }));

function body() {
  const asked = { n: state.shown, explain: true };
  if (state.model.folds_in === false) asked.user = state.user;
  else asked.history = state.chosen.map((one) => (one.strength === 1 ? { item: one.id } : { item: one.id, strength: one.strength }));
  if (state.models.length > 1) asked.model = state.model.name;
  for (const [name, value] of Object.entries(state.settings)) if (value !== null) asked[name] = value;
  return asked;
}

/** Ask for the list that belongs to what is chosen now. */
export async function refresh() {
  if (!state.model) return;
  if (state.model.folds_in === false && state.user === null) {
    return empty("This model knows its own users only. Load one by id.");
  }
  const slow = setTimeout(() => $("list").setAttribute("aria-busy", "true"), 150);
  try {
    const answer = await ask();
    if (answer !== undefined) show(answer);
  } catch (error) {
    fail(error);
  } finally {
    clearTimeout(slow);
  }
}

function empty(text) {
  $("list").replaceChildren(make("li", { class: "nothing" }, text));
  $("list").setAttribute("aria-busy", "false");
  $("more").hidden = true;
  change("answer", { items: [] });
}

function fail(error) {
  $("problem").firstElementChild.textContent = error.message;
  $("problem").hidden = false;
  $("list").setAttribute("aria-busy", "false");
}

function show(answer) {
  $("problem").hidden = true;
  $("results-title").textContent = state.chosen.length || state.user !== null ? "Recommended" : "Most popular";
  $("took").textContent = took(answer.took_ms);
  $("list").setAttribute("aria-busy", "false");
  if (!answer.items.length) return empty("Nothing is left to recommend: everything is chosen.");
  const before = places();
  const focus = focused();
  const top = Math.max(...answer.items.map((item) => item.score), 0);
  const kept = new Map([...$("list").children].map((row) => [row.dataset.id, row]));
  $("list").replaceChildren(...answer.items.map((item) => {
    const row = kept.get(JSON.stringify(item.id)) ?? newRow(item);
    fill(row, item, top);
    return row;
  }));
  refocus(focus);
  slide(before);
  $("more").hidden = answer.items.length < state.shown || state.shown >= MOST;
  announce(`${answer.items.length} recommendations: ${answer.items.slice(0, 3).map((item) => item.title).join(", ")} …`);
  change("answer", answer);
}

const took = (ms) => (Number.isFinite(ms) ? `answered in ${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms` : "");

function newRow(item) {
  return make("li", { "data-id": JSON.stringify(item.id), on: {
    pointerenter: () => change("point", item.id), pointerleave: () => change("point", null),
  } },
  make("div", { class: "line" },
    make("button", { type: "button", class: "item", on: { click: () => choose(item) } },
      make("span", { class: "title", title: item.title.length > 32 ? item.title : null }, item.title), make("span", { class: "plus", "aria-hidden": "true" }, "+")),
    make("button", {
      type: "button", class: "near", "aria-label": `Similar to ${item.title}`, title: "Show what is similar",
      on: { click: () => change("inspect", { id: item.id, title: item.title, move: true }) },
    }, "≈")),
  make("div", { class: "bar", "aria-hidden": "true" }),
  make("p", { class: "why" }));
}

/** Bars: as long as the score is beside the best one, divided by what the chosen items gave. */
function fill(row, item, top) {
  const length = top > 0 ? Math.max(0, item.score) / top : 0;
  const reasons = item.reasons ?? [];
  const parts = reasons.map((reason) => make("span", {
    class: "part", style: { width: `${100 * length * reason.share}%`, background: ink(colourOf(reason.id)) },
  }));
  const rest = 1 - reasons.reduce((sum, reason) => sum + reason.share, 0);
  if (rest > 0.005) parts.push(make("span", { class: "part rest", style: { width: `${100 * length * rest}%` } }));
  row.querySelector(".bar").replaceChildren(...parts);
  row.querySelector(".bar").title = `score ${Number(item.score.toPrecision(4))}`;
  row.querySelector(".item").setAttribute("aria-label", `Add ${item.title}`);
  row.querySelector(".why").replaceChildren(...why(reasons));
}

function why(reasons) {
  if (!reasons.length) return [state.chosen.length ? "popular in general" : ""];
  const shown = reasons.filter((reason) => reason.share >= 0.005).slice(0, 3);
  return shown.flatMap((reason, at) => [
    at ? " · " : "because of ",
    make("span", { style: { color: ink(colourOf(reason.id)) } }, reason.title),
    ...(shown.length > 1 ? [` ${Math.round(100 * reason.share)} %`] : []),
  ]);
}

/** Which button of which row has the focus; rows that move would lose it. */
function focused() {
  const button = document.activeElement;
  const row = button?.closest("#list > li");
  return row ? { row, place: [...$("list").children].indexOf(row), kind: button.className } : null;
}

/** Give it to the same row, or where that is gone to the one that took its place. */
function refocus(focus) {
  if (!focus) return;
  const row = focus.row.isConnected ? focus.row : $("list").children[focus.place] ?? $("list").lastElementChild;
  row.querySelector(`.${focus.kind}`)?.focus({ preventScroll: true });
}

const places = () => new Map([...$("list").children].map((row) => [row, row.offsetTop]));

/** Rows that changed their place slide there. */
function slide(before) {
  if (prefersStillness()) return;
  for (const row of $("list").children) {
    const from = before.get(row);
    const move = from === undefined ? null : from - row.offsetTop;
    if (move) row.animate([{ transform: `translateY(${move}px)` }, { transform: "none" }], { duration: 260, easing: "cubic-bezier(.2,.8,.2,1)" });
    else if (from === undefined) row.animate([{ opacity: 0 }, { opacity: 1 }], { duration: 220 });
  }
}

function skeleton() {
  const rows = Array.from({ length: STEP }, () => make("li", { class: "skeleton", "aria-hidden": "true" },
    make("div", { class: "line" }), make("div", { class: "bar" }), make("p", { class: "why" })));
  $("list").replaceChildren(...rows);
}

export function startResults() {
  skeleton();
  $("problem").lastElementChild.addEventListener("click", () => change("retry"));
  $("more").addEventListener("click", () => {
    state.shown = Math.min(state.shown + STEP, MOST);
    refresh();
  });
}

export { fail };
