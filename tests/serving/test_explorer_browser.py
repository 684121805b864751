"""The explorer as people use it: in a real browser, by mouse, keyboard and touch."""

from __future__ import annotations

import pytest

import taylorank as tr

pytest.importorskip("fastapi", reason="needs the extra serve")
from browser import PHONE, Explorer, launched
from processes import Running

NAMED = "#i=king&i=crown"


@pytest.fixture(scope="module")
def browser():
    with launched() as started:
        yield started


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    words = tr.datasets.thesaurus()
    model = tr.RG2(48, popularity_discount=0.2, tolerance=0.05).fit(words)
    model.save(folder / "words.tr", path=True)
    tr.ItemKNN().fit(words.core(40)).save(folder / "near.tr")
    return folder, model


@pytest.fixture(scope="module")
def address(browser, models):
    with Running(models[0] / "words.tr") as server:
        server.ready()
        yield f"http://127.0.0.1:{server.port}/"


@pytest.fixture
def explorer(browser, address):
    with Explorer(browser, address) as page:
        yield page
        assert page.errors == []


def test_it_begins_with_what_is_popular_and_asks_nobody_else(explorer, address, models):
    explorer.open()
    assert explorer.page.locator("#results-title").text_content() == "Most popular"
    assert len(explorer.titles) == 12
    assert explorer.page.locator("#facts").text_content() == "words · RG2 of rank 48 · 7,020 items, 6,602 users"
    assert all(one.url.startswith(address) for one in explorer.requests)


def test_typing_and_choosing_changes_the_list_to_that_of_the_model(explorer, models):
    before = explorer.open().titles
    search = explorer.page.locator("#search")
    search.fill("KIN")
    explorer.page.locator("#option-1").wait_for()
    found = explorer.page.locator("#options .name").all_text_contents()
    assert all("kin" in title for title in found)
    assert search.get_attribute("aria-expanded") == "true"
    assert search.get_attribute("aria-activedescendant") == "option-0"
    search.press("ArrowDown")
    assert search.get_attribute("aria-activedescendant") == "option-1"
    search.fill("king")
    explorer.page.locator("#option-0", has_text="king").wait_for()
    explorer.choose("king")
    assert explorer.chips == ["king"]
    assert search.get_attribute("aria-expanded") == "false"
    assert explorer.titles != before
    expected = models[1].fold_in([("me", "king")]).recommend(["me"], n=12)[0][0]
    assert explorer.titles == expected.tolist()
    assert explorer.page.locator("#results-title").text_content() == "Recommended"


def test_a_search_that_finds_nothing_says_so_and_escape_ends_it(explorer):
    explorer.open()
    explorer.page.locator("#search").fill("qqqq")
    explorer.page.locator("#options", has_text="Nothing is called “qqqq”.").wait_for()
    explorer.page.keyboard.press("Escape")
    assert explorer.page.locator("#options").is_hidden()
    assert explorer.page.locator("#search").input_value() == ""


def test_reasons_are_the_shares_of_what_was_chosen(explorer, models):
    explorer.open("#i=king&i=courage")
    model = models[1].fold_in([("me", "king"), ("me", "courage")])
    for row, title in enumerate(explorer.titles[:5]):
        told = model.explain("me", title)
        shares = {word: max(part, 0) for word, part in zip(told.items, told.contributions, strict=True)}
        best = max(shares, key=shares.get)
        why = explorer.page.locator("#list .why").nth(row).text_content()
        assert why.startswith(f"because of {best}")
        if "%" in why:
            assert f"{best} {round(100 * shares[best] / sum(shares.values()))} %" in why
        parts = explorer.page.locator("#list .bar").nth(row).locator(".part")
        assert parts.count() >= 1


def test_a_click_adds_a_recommendation_and_a_click_on_a_chip_removes_it(explorer):
    explorer.open(NAMED)
    first = explorer.titles[0]
    explorer.page.locator("#list .item").first.click()
    explorer.settled()
    assert explorer.chips == ["king", "crown", first]
    assert first not in explorer.titles
    explorer.page.locator("#chips .chosen").first.click()
    explorer.settled()
    assert explorer.chips == ["crown", first]
    explorer.page.locator("#clear").click()
    explorer.settled()
    assert explorer.chips == []
    assert explorer.page.locator("#no-choice").is_visible()
    assert explorer.page.locator("#results-title").text_content() == "Most popular"


@pytest.mark.parametrize(
    ("slider", "key", "shown", "asked"),
    [
        ("rank", "Home", "1 of 48", {"rank": 1}),
        ("threshold", "End", "95 %", {"regularization": 0.95}),
        ("discount", "End", "1.00", {"discount": 1}),
    ],
)
def test_a_slider_acts_at_once_and_can_be_put_back(explorer, slider, key, shown, asked):
    before = explorer.open(NAMED).titles
    explorer.page.locator(f"#{slider}").press(key)
    explorer.settled()
    assert explorer.page.locator(f"#{slider}-value").text_content() == shown
    assert asked.items() <= explorer.asked.items()
    assert explorer.titles != before
    explorer.page.locator("#reset").click()
    explorer.settled()
    assert explorer.titles == before
    assert not set(asked) & set(explorer.asked)


def test_a_dragged_slider_ends_with_the_list_of_its_last_place(explorer, models):
    explorer.open(NAMED)
    box = explorer.page.locator("#rank").bounding_box()
    middle = box["y"] + box["height"] / 2
    explorer.page.mouse.move(box["x"] + box["width"] - 10, middle)
    explorer.page.mouse.down()
    for part in (0.8, 0.6, 0.4, 0.2):
        explorer.page.mouse.move(box["x"] + part * box["width"], middle)
    explorer.page.mouse.up()
    explorer.settled()
    rank = explorer.asked["rank"]
    assert 5 <= rank <= 15
    model = next(models[1].path([rank], [models[1].regularization])).fold_in([("me", "king"), ("me", "crown")])
    assert explorer.titles[:5] == model.recommend(["me"], n=5)[0][0].tolist()


LATE = """
const ask = window.fetch;
window.fetch = async (path, options = {}) => {
  const answer = await ask(path, { ...options, signal: undefined });  // it cannot be given up
  const history = options.body ? JSON.parse(options.body).history : null;
  if (history?.length === 1) await new Promise((resolve) => setTimeout(resolve, 900));
  return answer;
};
"""


def test_an_answer_that_comes_too_late_is_dropped(browser, address):
    with Explorer(browser, address, script=LATE) as explorer:
        explorer.open()
        explorer.page.evaluate(
            "import('/state.js').then(({choose}) => { choose({id: 'king', title: 'king'});"
            " setTimeout(() => choose({id: 'crown', title: 'crown'}), 100); })"
        )
        explorer.page.locator("#list .why", has_text="crown").first.wait_for()
        shown = explorer.titles
        explorer.page.wait_for_timeout(1300)
        assert explorer.titles == shown


def test_more_of_the_list_is_shown_on_request(explorer):
    explorer.open(NAMED)
    explorer.page.locator("#more").click()
    explorer.settled()
    assert len(explorer.titles) == 24


def test_similar_items_are_those_of_the_model(explorer, models):
    explorer.open(NAMED)
    title = explorer.titles[0]
    explorer.page.get_by_role("button", name=f"Similar to {title}", exact=True).click()
    explorer.page.locator("#card-title", has_text=title).wait_for()
    explorer.settled()
    expected = models[1].similar_items([title], n=10)[0][0].tolist()
    assert explorer.page.locator("#similar button").all_text_contents() == expected
    explorer.page.locator("#similar button").first.click()
    explorer.settled()
    assert explorer.chips == ["king", "crown", expected[0]]


def test_the_map_is_moved_by_mouse_buttons_and_keys(explorer):
    explorer.open(NAMED)
    canvas, seen = explorer.page.locator("#canvas"), [explorer.picture]
    assert explorer.page.locator("#follow").get_attribute("aria-pressed") == "true"
    box = canvas.bounding_box()
    middle = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    def moved(act):
        act()
        seen.append(explorer.picture)
        assert seen[-1] != seen[-2]

    def drag():
        explorer.page.mouse.down()
        explorer.page.mouse.move(middle[0] + 70, middle[1] + 40, steps=4)
        explorer.page.mouse.up()

    explorer.page.mouse.move(*middle)
    seen.append(explorer.picture)
    moved(lambda: explorer.page.mouse.wheel(0, -400))
    assert explorer.page.locator("#follow").get_attribute("aria-pressed") == "false"
    moved(drag)
    moved(lambda: explorer.page.locator("#zoom-in").click())
    moved(lambda: explorer.page.locator("#zoom-all").click())
    for key in ("+", "ArrowLeft", "ArrowUp", "-", "0", "f"):
        moved(lambda key=key: canvas.press(key))
    assert explorer.page.locator("#follow").get_attribute("aria-pressed") == "true"


DRAWN_NAMES = """async () => {
  const { Labels } = await import("/labels.js");
  const { change } = await import("/state.js");
  const draw = Labels.prototype.draw;
  const drawn = new Promise((resolve) => {
    Labels.prototype.draw = function (rim) {
      draw.call(this, rim);
      resolve(this.found.map(({ text, font, left, top }) => {
        this.context.font = font;
        return [text, left, top, this.context.measureText(text).width];
      }));
    };
  });
  change("choice", {});
  return drawn;
}"""


def test_names_on_the_map_do_not_overlap_and_the_chosen_have_theirs(explorer):
    explorer.open("#i=king&i=courage&i=garden")
    explorer.page.wait_for_timeout(600)
    names = explorer.page.evaluate(DRAWN_NAMES)
    texts = [text for text, *_ in names]
    assert texts[:3] == ["king", "courage", "garden"]
    assert len(texts) == len(set(texts)) > 20
    popular = tr.datasets.thesaurus()
    counts = dict(zip(popular.item_ids, popular.item_popularity, strict=True))
    others = [counts[text] for text in texts if text not in {*explorer.titles, "king", "courage", "garden"}]
    assert others == sorted(others, reverse=True)
    for at, (_, left, top, width) in enumerate(names):
        for _, other, above, wide in names[:at]:
            apart = left >= other + wide or other >= left + width or abs(top - above) >= 14
            assert apart


MANY = """
const ask = window.fetch;
window.fetch = async (path, options) => {
  if (!String(path).startsWith("v1/map")) return ask(path, options);
  let seed = 1;
  const random = () => (seed = (seed * 16807) % 2147483647) / 2147483647;
  const rows = Array.from({ length: 40000 }, (_, at) => at);
  return Response.json({
    ids: rows, titles: rows.map((at) => `item ${at}`), popularity: rows.map((at) => 40000 - at),
    x: rows.map(() => 2 * random() - 1), y: rows.map(() => 2 * random() - 1),
  });
};
"""


def test_forty_thousand_items_are_drawn_moved_and_found(browser, address):
    with Explorer(browser, address, script=MANY) as explorer:
        explorer.open()
        covered = """() => {
          const { width, height } = document.getElementById("canvas");
          const data = document.getElementById("canvas").getContext("2d").getImageData(0, 0, width, height).data;
          let count = 0;
          for (let at = 3; at < data.length; at += 4) count += data[at] > 0;
          return count / (width * height);
        }"""
        whole = explorer.picture
        assert explorer.page.evaluate(covered) > 0.2
        explorer.page.locator("#zoom-in").click()
        assert explorer.picture != whole
        explorer.page.locator("#canvas").hover(position={"x": 200, "y": 200})
        explorer.page.wait_for_timeout(200)
        assert explorer.page.locator("#canvas").evaluate("(canvas) => canvas.style.cursor") == "pointer"
        assert explorer.errors == []


def test_a_dot_of_the_map_can_be_looked_at_and_chosen(explorer):
    explorer.open(NAMED)
    explorer.page.locator("#zoom-all").click()
    explorer.page.wait_for_timeout(600)
    explorer.page.locator("#canvas").click(position={"x": 150, "y": 200})
    title = explorer.page.locator("#card-title").text_content()
    assert title not in ("king", "crown", "")
    explorer.page.locator("#card-add", has_text="Add").click()
    explorer.settled()
    assert explorer.chips == ["king", "crown", title]


def test_a_user_is_loaded_by_id(explorer, models):
    explorer.open()
    explorer.page.locator("summary", has_text="Load a user").click()
    explorer.page.locator("#user").fill("ocean")
    explorer.page.locator("#user").press("Enter")
    history = tr.datasets.thesaurus().items_of("ocean").tolist()
    explorer.page.locator("#load-message", has_text=f"{len(history)} items of user ocean.").wait_for()
    explorer.settled()
    more = explorer.page.locator("#chips .more")
    assert explorer.chips == history[:24]
    if len(history) > 24:
        more.click()
        assert explorer.chips == history
    assert not set(explorer.titles) & set(history)


def test_an_unknown_user_is_answered_in_words(browser, address):
    with Explorer(browser, address) as explorer:
        explorer.open()
        explorer.page.locator("summary", has_text="Load a user").click()
        explorer.page.locator("#user").fill("nobody at all")
        explorer.page.locator("#load-user button").click()
        explorer.page.locator("#load-message", has_text="Unknown user 'nobody at all'").wait_for()


def test_a_history_is_pasted(explorer):
    explorer.open()
    explorer.page.locator("summary", has_text="paste a history").click()
    explorer.page.locator("#history").fill("King\ncrown\t3\nnever heard")
    explorer.page.locator("#paste button").click()
    explorer.page.locator("#load-message", has_text="2 items taken over. Not known: never heard.").wait_for()
    explorer.settled()
    assert explorer.chips == ["king", "crown ×3"]
    assert explorer.asked["history"] == [{"item": "king"}, {"item": "crown", "strength": 3}]


def test_the_address_keeps_choice_and_settings(explorer, address):
    explorer.open()
    explorer.choose("garden")
    explorer.page.locator("#rank").press("Home")
    explorer.settled()
    explorer.page.wait_for_timeout(400)
    shown, kept = explorer.titles, explorer.page.url
    explorer.page.goto("about:blank")
    explorer.page.goto(kept)
    explorer.settled()
    assert explorer.chips == ["garden"]
    assert explorer.titles == shown
    assert explorer.page.locator("#rank-value").text_content() == "1 of 48"


def test_an_address_changed_by_hand_is_followed(explorer):
    explorer.open(NAMED)
    before = explorer.titles
    explorer.page.evaluate("location.hash = '#i=garden&rank=2'")
    explorer.settled()
    assert explorer.chips == ["garden"]
    assert explorer.asked["rank"] == 2
    assert explorer.page.title() == "garden · taylorank explorer"
    assert explorer.titles != before


def test_a_model_replaced_on_the_server_is_noticed(browser, models, tmp_path):
    file = tmp_path / "words.tr"
    file.write_bytes((models[0] / "words.tr").read_bytes())
    other = tr.RG2(24).fit(tr.datasets.thesaurus().core(12))
    with Running(file, "--poll", "0.1") as server, Explorer(browser, f"http://127.0.0.1:{server.port}/") as explorer:
        server.ready()
        explorer.open(NAMED)
        assert "rank 48" in explorer.page.locator("#facts").text_content()
        other.save(file, path=True)
        server.until(lambda: other.data_fingerprint.encode() in server.ask("GET", "/v1/models")[1])
        explorer.choose("garden")
        explorer.page.locator("#facts", has_text="rank 24").wait_for()
        explorer.settled()
        assert explorer.chips == ["king", "crown", "garden"]
        assert explorer.page.locator("#rank-value").text_content() == "24 of 24"
        assert explorer.errors == []


def test_unknown_items_of_an_address_are_named(explorer):
    explorer.open("#i=qwertz&i=king")
    assert explorer.page.locator("#ignored").text_content() == "Not known to this model: qwertz"
    assert explorer.page.locator("#list .why").first.text_content() == "because of king"


def test_a_long_history_is_shown_and_taken_at_once(explorer):
    words = tr.datasets.thesaurus().item_ids[::3].tolist()
    explorer.open()
    explorer.page.locator("summary", has_text="paste a history").click()
    explorer.page.locator("#history").fill("\n".join(words[:2000]), timeout=60_000)
    explorer.page.locator("#paste button").click()
    explorer.page.locator("#load-message", has_text="2,000 items taken over.").wait_for()
    explorer.settled()
    assert explorer.chips == words[:24]
    assert len(explorer.asked["history"]) == 2000
    assert len(explorer.titles) == 12


OWN_USERS_ONLY = """
const ask = window.fetch;
window.fetch = async (path, options) => {
  const answer = await ask(path, options);
  if (!String(path).endsWith("v1/models")) return answer;
  const found = await answer.json();
  for (const model of found.models) model.folds_in = false;
  return Response.json(found);
};
"""


def test_a_model_that_takes_no_history_is_asked_for_its_users(browser, address, models):
    with Explorer(browser, address, script=OWN_USERS_ONLY) as explorer:
        explorer.open()
        assert "Load one by id" in explorer.page.locator("#list").text_content()
        explorer.page.locator("summary", has_text="Load a user").click()
        explorer.page.locator("#user").fill("king")
        explorer.page.locator("#load-user button").click()
        explorer.page.locator("#list .title").first.wait_for()
        explorer.settled()
        assert explorer.asked["user"] == "king"
        assert explorer.titles == models[1].recommend(["king"], n=12)[0][0].tolist()
        assert explorer.errors == []


@pytest.mark.parametrize("window", [{}, PHONE], ids=["desktop", "phone"])
def test_nothing_jumps_while_the_page_loads(browser, address, window):
    script = """() => new Promise((resolve) => {
      new PerformanceObserver((list) => resolve(list.getEntries().reduce((sum, one) => sum + one.value, 0)))
        .observe({ type: "layout-shift", buffered: true });
      setTimeout(() => resolve(0), 300);
    })"""
    with Explorer(browser, address, **window) as explorer:
        explorer.open(NAMED)
        assert explorer.page.evaluate(script) < 0.01


def test_a_model_without_a_path_rests_the_sliders_and_says_why(browser, models):
    with Running(models[0] / "near.tr") as server, Explorer(browser, f"http://127.0.0.1:{server.port}/") as explorer:
        server.ready()
        explorer.open()
        explorer.choose("run")
        assert explorer.titles
        assert explorer.page.locator("#rank").is_disabled()
        assert explorer.page.locator("#threshold").is_disabled()
        words = "Rank and threshold are for RG2 and RGX; this model is ItemKNN."
        assert explorer.page.locator("#no-path").text_content() == words
        assert explorer.errors == []


def test_one_of_several_models_is_chosen(browser, models):
    files = models[0] / "words.tr", models[0] / "near.tr"
    with Running(*files) as server, Explorer(browser, f"http://127.0.0.1:{server.port}/") as explorer:
        server.ready()
        first = explorer.open("#i=run").titles
        explorer.page.locator("#model").select_option("near")
        explorer.settled()
        assert explorer.asked["model"] == "near"
        assert explorer.titles != first
        assert "ItemKNN" in explorer.page.locator("#facts").text_content()


def test_a_choice_of_which_another_model_knows_nothing_is_given_up(browser, models):
    numbers = models[0] / "numbers.tr"
    tr.RG2(4).fit(tr.planted(60, 30, interactions=600)).save(numbers)
    with (
        Running(models[0] / "words.tr", numbers) as server,
        Explorer(browser, f"http://127.0.0.1:{server.port}/") as explorer,
    ):
        server.ready()
        explorer.open(NAMED)
        explorer.page.locator("#list .near").first.click()  # pointed at on a map that goes
        explorer.settled()
        explorer.page.locator("#model").select_option("numbers")
        explorer.page.locator("#results-title", has_text="Most popular").wait_for()
        explorer.settled()
        assert explorer.chips == []
        assert explorer.page.locator("#problem").is_hidden()
        assert all(title.isdigit() for title in explorer.titles)
        assert all("404" in error for error in explorer.errors)  # what was asked before the map came


def test_a_key_is_asked_for_until_it_is_right(browser, models):
    arguments = models[0] / "words.tr", "--api-key", "open-sesame"
    with Running(*arguments) as server, Explorer(browser, f"http://127.0.0.1:{server.port}/") as explorer:
        server.ready()
        explorer.page.goto(explorer.address)
        key = explorer.page.get_by_label("API key")
        key.fill("wrong")
        key.press("Enter")
        explorer.page.locator("#key-hint", has_text="refused").wait_for()
        key.fill("open-sesame")
        key.press("Enter")
        explorer.page.locator("#list .title").first.wait_for()
        explorer.settled()
        explorer.choose("king")
        assert explorer.chips == ["king"]
        explorer.page.reload()
        explorer.settled()
        assert explorer.page.locator("#key-dialog").is_hidden()


def test_a_server_that_is_gone_is_reported_and_tried_again(browser, models):
    with Explorer(browser, "") as explorer:
        with Running(models[0] / "words.tr") as server:
            server.ready()
            explorer.address = f"http://127.0.0.1:{server.port}/"
            explorer.open(NAMED)
        explorer.page.locator("#list .item").first.click()
        problem = explorer.page.locator("#problem")
        problem.wait_for()
        assert "The server does not answer" in problem.text_content()
        with Running(models[0] / "words.tr", port=server.port) as again:
            again.ready()
            explorer.page.get_by_role("button", name="Try again").click()
            problem.wait_for(state="hidden")
            explorer.settled()
            assert explorer.chips[:2] == ["king", "crown"]
            assert explorer.titles


SPREAD = """async () => {
  const canvas = document.getElementById("canvas");
  const box = canvas.getBoundingClientRect();
  const touch = (type, id, x, y) => canvas.dispatchEvent(new PointerEvent(type, {
    pointerId: id, pointerType: "touch", clientX: box.left + x, clientY: box.top + y, bubbles: true, button: 0 }));
  canvas.setPointerCapture = () => {};
  touch("pointerdown", 11, 120, 200);
  touch("pointerdown", 12, 180, 200);
  for (let step = 1; step <= 6; step++) {
    touch("pointermove", 11, 120 - 10 * step, 200);
    touch("pointermove", 12, 180 + 10 * step, 200);
  }
  touch("pointerup", 11, 60, 200);
  touch("pointerup", 12, 240, 200);
}"""


def test_on_a_phone_it_fits_taps_choose_and_two_fingers_zoom(browser, address):
    with Explorer(browser, address, **PHONE) as explorer:
        explorer.open(NAMED)
        assert explorer.page.evaluate("document.documentElement.scrollWidth") == 390
        first = explorer.titles[0]
        explorer.page.locator("#list .item").first.tap()
        explorer.settled()
        assert explorer.chips == ["king", "crown", first]
        small = explorer.page.evaluate(
            """() => [...document.querySelectorAll("button, input, summary")]
            .filter((one) => one.offsetParent && !one.disabled && one.getBoundingClientRect().height < 24)
            .map((one) => one.id || one.textContent)"""
        )
        assert small == []
        explorer.page.locator("#settings-box summary").tap()
        explorer.page.locator("#discount").press("End")
        explorer.settled()
        assert explorer.asked["discount"] == 1
        explorer.page.locator("#map").scroll_into_view_if_needed()
        before = explorer.picture
        explorer.page.evaluate(SPREAD)
        assert explorer.picture != before
        assert explorer.page.locator("#follow").get_attribute("aria-pressed") == "false"
        assert explorer.errors == []


def test_colours_follow_the_system_and_the_switch(browser, address):
    ground = "getComputedStyle(document.body).backgroundColor"
    with Explorer(browser, address, color_scheme="dark") as explorer:
        explorer.open()
        dark = explorer.page.evaluate(ground)
        switch = explorer.page.locator("#theme")
        switch.click()
        assert switch.get_attribute("aria-label") == "Colours: light"
        light = explorer.page.evaluate(ground)
        assert light != dark
        explorer.page.reload()
        assert explorer.page.evaluate(ground) == light
        switch.click()
        assert explorer.page.evaluate(ground) == dark


def test_the_keyboard_alone_is_enough(explorer):
    explorer.open()
    press = explorer.page.keyboard.press
    here = "document.activeElement.id || document.activeElement.className"
    press("Tab")
    assert explorer.page.evaluate(here) == "skip"
    order = []
    for _ in range(8):
        press("Tab")
        order.append(explorer.page.evaluate(here))
    assert order[:3] == ["theme", "search", "surprise"]
    assert order.index("rank") < order.index("threshold") < order.index("discount")
    explorer.page.locator("#search").focus()
    explorer.page.keyboard.type("garden")
    explorer.page.locator("#option-0", has_text="garden").wait_for()
    press("Enter")
    explorer.settled()
    explorer.page.locator(".skip").focus()
    press("Enter")
    press("Tab")
    for count in (2, 3):  # the focus stays in the list
        press("Enter")
        explorer.settled()
        assert len(explorer.chips) == count
    assert explorer.page.evaluate("document.activeElement.closest('#list li') === document.querySelector('#list li')")
    explorer.page.locator("#search").focus()
    press("Backspace")
    press("Backspace")
    explorer.settled()
    assert explorer.chips == ["garden"]


def test_what_changed_is_told_to_those_who_listen(explorer):
    explorer.open()
    explorer.choose("king")
    told = explorer.page.locator("#status")
    explorer.page.wait_for_timeout(900)
    assert told.text_content() == f"12 recommendations: {', '.join(explorer.titles[:3])} …"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("window", [{}, PHONE], ids=["desktop", "phone"])
def test_axe_finds_no_barrier(browser, address, scheme, window):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe-playwright-python")
    with Explorer(browser, address, color_scheme=scheme, reduced_motion="reduce", **window) as explorer:
        explorer.open("#i=king&i=crown&i=courage")
        explorer.page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        explorer.page.locator("#similar button").first.wait_for()
        assert explained(axe.Axe().run(explorer.page)) == []
        explorer.page.locator("#search").fill("qu")
        explorer.page.locator("#option-0").wait_for()
        assert explained(axe.Axe().run(explorer.page)) == []


def explained(results):
    return [
        (found["id"], node["html"], node["any"][0]["message"] if node["any"] else "")
        for found in results.response["violations"]
        for node in found["nodes"]
    ]
