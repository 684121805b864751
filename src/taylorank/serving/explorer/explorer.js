// The page: its parts, and the first requests.
import { debounced, onKeyNeeded, request } from "./api.js";
import { startCard } from "./card.js";
import { startChoice } from "./choice.js";
import { $, make } from "./dom.js";
import { startMap } from "./map.js";
import { fail, refresh, startResults } from "./results.js";
import { startSearch } from "./search.js";
import { startSettings } from "./settings.js";
import { change, fromHash, on, putChosen, replaceChoice, state, toHash } from "./state.js";

const refreshSoon = debounced(30, refresh);
const keepAddress = debounced(250, () => {
  const hash = toHash();
  history.replaceState(null, "", hash ? `#${hash}` : location.pathname + location.search);
});

/** Ask in a dialog; resolves with the key, or null where it was closed. */
function askForKey(isWrong) {
  const dialog = $("key-dialog");
  if (isWrong) $("key-hint").textContent = "That key was refused. Please try again.";
  $("key").value = "";
  return new Promise((resolve) => {
    const finish = (event) => {
      event.preventDefault();
      dialog.close($("key").value.trim());
    };
    $("key-form").addEventListener("submit", finish, { once: true });
    dialog.addEventListener("close", () => resolve(dialog.returnValue || null), { once: true });
    dialog.returnValue = "";
    dialog.showModal();
  });
}

async function start() {
  const asked = fromHash(location.hash);
  try {
    state.models = (await request("v1/models")).models;
  } catch (error) {
    return fail(error);
  }
  state.model = state.models.find((model) => model.name === asked.model) ?? state.models[0];
  state.settings = asked.settings;
  showModels();
  // Titles come with the map; until then the ids stand for them.
  putChosen(asked.ids.map((id) => ({ id, title: String(id) })));
  change("model");
}

/** Follow an address that was changed by hand. */
function followAddress() {
  const asked = fromHash(location.hash);
  const model = state.models.find((one) => one.name === asked.model);
  state.settings = asked.settings;
  if (model && model !== state.model) useModel(model);
  change("settings");
  replaceChoice(asked.ids.map((id) => ({ id, title: state.catalogue.get(id) ?? String(id) })));
}

function useModel(model) {
  state.model = model;
  showModels();
  change("model");
}

/** A model that was replaced on the server has other facts and another map. */
async function noticeReplaced({ model, version }) {
  if (!version || model !== state.model.name || version === state.model.version) return;
  try {
    state.models = (await request("v1/models")).models;
    useModel(state.models.find((one) => one.name === model) ?? state.models[0]);
  } catch (error) {
    fail(error);
  }
}

function nameTab() {
  const names = state.chosen.slice(0, 3).map((one) => one.title).join(", ");
  document.title = names ? `${names} · taylorank explorer` : "taylorank explorer";
}

/** Titles come with the map. A choice of which this model knows nothing, as after another one, is given up. */
function nameChosen() {
  if (!state.chosen.length) return;
  if (!state.chosen.some((one) => state.catalogue.has(one.id)) && state.catalogue.size) return replaceChoice([]);
  for (const one of state.chosen) one.title = state.catalogue.get(one.id) ?? one.title;
  change("named");
}

function showModels() {
  $("model-choice").hidden = state.models.length < 2;
  $("model").replaceChildren(...state.models.map((model) => make("option", { value: model.name, selected: model === state.model }, model.name)));
  const { kind, factors, users, items, name } = state.model;
  const sizes = `${items.toLocaleString("en")} items, ${users.toLocaleString("en")} users`;
  $("facts").textContent = `${name} · ${kind}${factors ? ` of rank ${factors}` : ""} · ${sizes}`;
}

const THEMES = { system: ["◐", "as the system"], light: ["☀", "light"], dark: ["☾", "dark"] };

function startTheme() {
  const root = document.documentElement;
  const draw = () => {
    const [sign, words] = THEMES[root.dataset.theme ?? "system"];
    $("theme").textContent = sign;
    $("theme").setAttribute("aria-label", `Colours: ${words}`);
    $("theme").title = `Colours: ${words}`;
    change("colours");
  };
  $("theme").addEventListener("click", () => {
    const names = Object.keys(THEMES);
    const next = names[(names.indexOf(root.dataset.theme ?? "system") + 1) % names.length];
    if (next === "system") delete root.dataset.theme;
    else root.dataset.theme = next;
    try { localStorage.setItem("theme", next); } catch { /* then it holds for this page */ }
    draw();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  draw();
}

onKeyNeeded(askForKey);
startSearch();
startChoice();
startSettings();
startResults();
startCard();
startMap();
startTheme();

on("choice", () => { state.shown = 12; refresh(); keepAddress(); nameTab(); });
on("settings", () => { refreshSoon(); keepAddress(); });
on("catalogue", nameChosen);
on("named", nameTab);
on("answer", noticeReplaced);
addEventListener("hashchange", followAddress);
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault(); // or it would take the place of what the address keeps
  $("recommendations").focus();
});
on("retry", () => (state.model ? change("model") : start()));
$("model").addEventListener("change", () => {
  state.settings = { rank: null, regularization: null, discount: null };
  useModel(state.models.find((model) => model.name === $("model").value));
  keepAddress();
});
start();
