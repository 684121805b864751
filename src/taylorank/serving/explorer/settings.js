// Sliders: rank, threshold and popularity discount.
import { $ } from "./dom.js";
import { change, on, set, state } from "./state.js";

const percent = (share) => `${Math.round(100 * share)} %`;

// What the slider shows and what a request says; `own` is the model's own value.
const SLIDERS = {
  rank: {
    setting: "rank", own: (model) => model.rank ?? model.factors,
    toValue: Number, toPlace: Number, text: (value, model) => `${value} of ${model.path?.max_rank ?? value}`,
  },
  threshold: {
    setting: "regularization", own: (model) => model.regularization ?? 0,
    toValue: (place) => place / 100, toPlace: (value) => Math.round(100 * value), text: percent,
  },
  discount: {
    setting: "discount", own: (model) => model.discount ?? 0,
    toValue: (place) => place / 100, toPlace: (value) => Math.round(100 * value), text: (value) => value.toFixed(2),
  },
};

function draw() {
  const model = state.model;
  if (!model) return;
  for (const [id, slider] of Object.entries(SLIDERS)) {
    const value = state.settings[slider.setting] ?? slider.own(model);
    const text = value === null || $(id).disabled ? "–" : slider.text(value, model);
    $(id).value = slider.toPlace(value ?? 0);
    $(id).setAttribute("aria-valuetext", text);
    $(id).style.setProperty("--part", `${(100 * ($(id).value - $(id).min)) / Math.max($(id).max - $(id).min, 1)}%`);
    $(`${id}-value`).textContent = text;
  }
  $("reset").disabled = Object.values(state.settings).every((value) => value === null);
}

/** What this model lets one change. */
function fitModel() {
  const model = state.model;
  const hasPath = Boolean(model.path);
  $("rank").disabled = $("threshold").disabled = !hasPath;
  if (hasPath) {
    $("rank").max = model.path.max_rank;
    const most = model.path.regularizations?.at(-1) ?? 0.95;
    $("threshold").max = Math.round(100 * Math.min(most, 0.99));
  } else {
    state.settings.rank = state.settings.regularization = null;
  }
  $("discount").disabled = model.discount === null;
  if (model.discount === null) state.settings.discount = null;
  $("no-path").hidden = hasPath;
  $("no-path").textContent = ["RG2", "RGX"].includes(model.kind)
    ? "Rank and threshold are fixed: this file was saved without its path. Save the model with path=True to move them."
    : `Rank and threshold are for RG2 and RGX; this model is ${model.kind}.`;
  draw();
}

export function startSettings() {
  for (const [id, slider] of Object.entries(SLIDERS)) {
    $(id).addEventListener("input", () => set(slider.setting, slider.toValue($(id).value)));
  }
  $("reset").addEventListener("click", () => {
    state.settings = { rank: null, regularization: null, discount: null };
    change("settings");
    $("rank").focus();
  });
  on("model", fitModel);
  on("settings", draw);
}
