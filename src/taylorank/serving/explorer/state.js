// What was chosen and how the model is set; everything else on the page follows from it.

export const COLOURS = 8;

export const state = {
  models: [],
  model: null, // of /v1/models
  chosen: [], // {id, title, strength, colour}
  user: null, // id of a user whose history this is, for models that cannot take a history
  settings: { rank: null, regularization: null, discount: null }, // null: the model's own
  shown: 12,
  catalogue: new Map(), // id → title, of the map
};

const listeners = new Map();

/** Call `listener` after every `change(topic)`. */
export function on(topic, listener) {
  listeners.set(topic, [...(listeners.get(topic) ?? []), listener]);
}

export function change(topic, detail) {
  for (const listener of listeners.get(topic) ?? []) listener(detail);
}

const colours = new Map(); // of what is chosen, by id

export const isChosen = (id) => colours.has(id);

export const colourOf = (id) => colours.get(id) ?? null;

/** The lowest colour that no other chosen item has; null when all are taken, as in long histories. */
function freeColour() {
  const taken = new Set([...colours.values()].filter((colour) => colour !== null));
  if (taken.size === COLOURS) return null;
  return Array.from({ length: COLOURS }, (_, colour) => colour).find((colour) => !taken.has(colour));
}

function put({ id, title, strength = 1 }) {
  if (isChosen(id)) return;
  const colour = colours.size < 10 * COLOURS ? freeColour() : null;
  colours.set(id, colour);
  state.chosen.push({ id, title, strength, colour });
}

/** Choose these without telling anyone yet. */
export function putChosen(items) {
  items.forEach(put);
}

export function choose(item) {
  state.user = null;
  put(item);
  change("choice", { added: item });
}

export function remove(id) {
  const gone = state.chosen.find((one) => one.id === id);
  state.user = null;
  state.chosen = state.chosen.filter((one) => one.id !== id);
  colours.delete(id);
  change("choice", { removed: gone });
}

/** Choose these instead of what was chosen. */
export function replaceChoice(items, user = null) {
  state.chosen = [];
  colours.clear();
  state.user = user;
  items.forEach(put);
  change("choice", {});
}

export function set(name, value) {
  state.settings[name] = value;
  change("settings");
}

/** The colour of a number as CSS has it. */
export const ink = (colour) => (colour === null ? "var(--soft)" : `var(--c${colour})`);

const NAMES = { rank: "rank", regularization: "threshold", discount: "discount" };

/** The address after #, with which a page can be shared. */
export function toHash() {
  const parts = new URLSearchParams();
  for (const one of state.chosen.slice(0, 50)) parts.append("i", JSON.stringify(one.id));
  for (const [key, name] of Object.entries(NAMES)) {
    if (state.settings[key] !== null) parts.set(name, state.settings[key]);
  }
  if (state.model && state.models.length > 1) parts.set("model", state.model.name);
  return parts.toString();
}

/** Return what an address says: ids (plain text counts as text), settings, the model's name. */
export function fromHash(hash) {
  const parts = new URLSearchParams(hash.replace(/^#/, ""));
  const ids = parts.getAll("i").map((text) => {
    try {
      const id = JSON.parse(text);
      return typeof id === "string" || Number.isInteger(id) ? id : text;
    } catch { return text; }
  });
  const settings = {};
  for (const [key, name] of Object.entries(NAMES)) {
    const value = parts.has(name) ? Number(parts.get(name)) : null;
    settings[key] = Number.isFinite(value) ? value : null;
  }
  return { ids, settings, model: parts.get("model") };
}
