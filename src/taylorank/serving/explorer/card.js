// One item looked at: its name, whether it is chosen, and what is similar to it.
import { latest, request } from "./api.js";
import { pill } from "./choice.js";
import { $, make } from "./dom.js";
import { choose, isChosen, on, remove, state } from "./state.js";

const NEAREST = 10;
let item = null;
let near = [];

const ask = latest((signal, id) => {
  const query = new URLSearchParams({ n: NEAREST });
  if (state.model) query.set("model", state.model.name);
  return request(`v1/items/${encodeURIComponent(id)}/similar?${query}`, { signal });
});

async function inspect(chosen) {
  item = chosen;
  near = [];
  draw();
  note("…");
  try {
    const answer = await ask(chosen.id);
    if (answer === undefined) return;
    near = answer.items;
    draw();
    if (!near.length) note("Nothing is similar to it.");
  } catch (error) {
    note(error.message);
  }
}

function note(text) {
  $("similar").replaceChildren(make("li", { class: "hint" }, text));
}

function draw() {
  $("card-hint").hidden = item !== null;
  $("card-body").hidden = item === null;
  if (!item) return;
  $("card-title").textContent = item.title;
  $("card-add").textContent = isChosen(item.id) ? "Remove" : "Add";
  if (near.length) $("similar").replaceChildren(...near.map((one) => make("li", {}, pill(one))));
}

export function startCard() {
  on("inspect", inspect);
  on("choice", ({ added }) => (added ? inspect(added) : draw()));
  on("named", draw);
  on("model", () => {
    item = null;
    if (state.chosen.length) inspect(state.chosen.at(-1));
    else draw();
  });
  $("card-add").addEventListener("click", () => (isChosen(item.id) ? remove(item.id) : choose(item)));
}
