// The search field: a combobox whose list comes from the server.
import { debounced, latest, request } from "./api.js";
import { $, announce, make } from "./dom.js";
import { choose, isChosen, remove, state } from "./state.js";

const FOUND = 8;
let found = [];
let active = -1;

const ask = latest((signal, text) => {
  const query = new URLSearchParams({ q: text, n: FOUND });
  if (state.model) query.set("model", state.model.name);
  return request(`v1/items?${query}`, { signal });
});

async function look() {
  const text = $("search").value.trim();
  if (!text) return close();
  try {
    const answer = await ask(text);
    if (answer !== undefined) show(answer.items, text);
  } catch (error) {
    message(error.message);
  }
}

const lookSoon = debounced(90, look);

function show(items, text) {
  found = items;
  if (!items.length) return message(`Nothing is called “${text}”.`);
  const most = Math.max(...items.map((item) => item.popularity), 1);
  $("options").replaceChildren(...items.map((item, place) => option(item, place, text, most)));
  open();
  activate(0);
}

function option(item, place, text, most) {
  const size = Math.round(6 + 34 * Math.sqrt(Math.max(item.popularity, 0) / most));
  return make("li", {
    role: "option", id: `option-${place}`, "aria-selected": "false", "data-chosen": isChosen(item.id) || null,
    on: {
      pointerdown: (event) => event.preventDefault(), // the field keeps the focus
      click: () => take(place),
      pointermove: () => activate(place),
    },
  },
  make("span", { class: "name" }, ...marked(item.title, text)),
  make("span", { class: "popular", "aria-hidden": "true", style: { width: `${size}px` } }));
}

/** The title with the part that was typed in bold. */
function marked(title, text) {
  const at = title.toLowerCase().indexOf(text.toLowerCase());
  if (at < 0) return [title];
  return [title.slice(0, at), make("b", {}, title.slice(at, at + text.length)), title.slice(at + text.length)];
}

function message(text) {
  found = [];
  $("options").replaceChildren(make("li", { role: "option", "aria-disabled": "true", "aria-selected": "false", class: "none" }, text));
  open();
  activate(-1);
  announce(text);
}

function open() {
  $("options").hidden = false;
  $("search").setAttribute("aria-expanded", "true");
}

function close() {
  found = [];
  $("options").hidden = true;
  $("options").replaceChildren();
  $("search").setAttribute("aria-expanded", "false");
  activate(-1);
}

function activate(place) {
  active = place;
  [...$("options").children].forEach((element, at) => {
    if (found.length) element.setAttribute("aria-selected", String(at === place));
    if (at === place) element.scrollIntoView({ block: "nearest" });
  });
  if (place >= 0) $("search").setAttribute("aria-activedescendant", `option-${place}`);
  else $("search").removeAttribute("aria-activedescendant");
}

function take(place) {
  const item = found[place];
  if (!item) return;
  if (isChosen(item.id)) announce(`${item.title} is chosen already`);
  else choose(item);
  $("search").value = "";
  close();
}

const KEYS = {
  ArrowDown: () => activate((active + 1) % found.length),
  ArrowUp: () => activate((active - 1 + found.length) % found.length),
  Enter: () => take(active),
};

function pressed(event) {
  if (event.isComposing) return;
  if (event.key === "Escape") {
    $("search").value = "";
    return close();
  }
  if (event.key === "Backspace" && !event.target.value && state.chosen.length) {
    return remove(state.chosen.at(-1).id);
  }
  if (event.key === "ArrowDown" && !found.length) return look();
  if (KEYS[event.key] && found.length) {
    event.preventDefault();
    KEYS[event.key]();
  }
}

export function startSearch() {
  $("search").addEventListener("input", lookSoon);
  $("search").addEventListener("keydown", pressed);
  $("search").addEventListener("focus", lookSoon);
  $("search").addEventListener("blur", close);
}
