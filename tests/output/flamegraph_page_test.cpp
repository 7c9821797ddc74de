// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#include <rbprof/output/flamegraph_page.hpp>

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include <fstream>
#include <random>
#include <string>
#include <vector>

#include <rbprof/output/flamegraph_html.hpp>

#include "support.hpp"

// The page in a real browser: a script appended to it does what a user does and leaves what it saw in
// the document, which chromium prints.

namespace {

using namespace support;

std::string browser() {
  for (const char* name : {"chromium", "chromium-browser", "google-chrome"}) {
    if (run("command -v " + std::string(name)).status == 0) return name;
  }
  return {};
}

/// Runs `script` in the page of a profile; it fills an object `out`, which comes back.
nlohmann::json drive(const profile& p, const std::string& script, const std::string& window) {
  const scratch_dir dir;
  auto page = output::encode_flamegraph_html(p);
  REQUIRE(page.ok());
  std::ofstream file(dir / "page.html", std::ios::binary);
  // The catcher comes first, so that an error of the page itself is seen.
  const std::string catcher =
      "<script>const errors = []; window.onerror = m => { errors.push(String(m)); };</script>\n";
  page->insert(page->find("<script type="), catcher);
  file << *page << "<pre id=outcome></pre><script>setTimeout(() => { const out = {};\n"
       << "const key = k => document.body.dispatchEvent(\n"
       << "    new KeyboardEvent('keydown', {key: k, bubbles: true, cancelable: true}));\n"
       << "const point = (type, e, kind) => canvas.dispatchEvent(new PointerEvent(type, {bubbles: true,\n"
       << "    pointerType: kind, clientX: canvas.getBoundingClientRect().left + e.x + e.w / 2,\n"
       << "    clientY: canvas.getBoundingClientRect().top + e.n.depth * rowHeight + 5}));\n"
       << "const set = (id, value, event) => {\n"
       << "    $(id).value = value; $(id).dispatchEvent(new Event(event)); };\n"
       << "try {\n" << script << "\n} catch (e) { errors.push(String(e)); }\n"
       << "out.errors = errors;\n"
       << "$('outcome').textContent = 'BEGIN' + encodeURIComponent(JSON.stringify(out)) + 'END';\n"
       << "}, 300);</script>\n";
  file.close();
  const outcome got = run("timeout 60 " + browser() +
                          " --headless --no-sandbox --disable-gpu --disable-quic --no-first-run"
                          " --disable-background-networking --disable-component-update --disable-sync"
                          " --virtual-time-budget=3000 --window-size=" + window + " --user-data-dir=" +
                          (dir / "user").string() + " --dump-dom file://" + (dir / "page.html").string());
  const std::size_t from = got.text.find("\"outcome\">BEGIN");
  const std::size_t to = got.text.find("END", from);
  CAPTURE(got.text.substr(got.text.size() > 2000 ? got.text.size() - 2000 : 0));
  REQUIRE(from != std::string::npos);
  REQUIRE(to != std::string::npos);
  std::string json;
  for (std::size_t i = from + 15; i < to; ++i) {
    if (got.text[i] == '%') {
      json += static_cast<char>(std::stoi(got.text.substr(i + 1, 2), nullptr, 16));
      i += 2;
    } else {
      json += got.text[i];
    }
  }
  return nlohmann::json::parse(json);
}

profile small() {
  profile_builder b(time_value_types());
  const auto thread = [&](const char* id, const char* name) {
    return b.labels(std::vector<label_text>{{"thread id", id}, {"thread name", name}});
  };
  b.add(stack_of(b, {"<main>", "run", "leaf"}), thread("1", "main"), worth(6, 6'000'000, 1));
  b.add(stack_of(b, {"<main>", "run"}), thread("1", "main"), worth(3, 3'000'000, 1));
  b.add(stack_of(b, {"block", "leaf"}), thread("2", "worker"), worth(1, 1'000'000, 1));
  b.set_program("</script> game");
  return std::move(b).build();
}

#define NEEDS_BROWSER() \
  if (browser().empty()) SKIP("no chromium here (Debian: chromium)")

}  // namespace

TEST_CASE("the page zooms, searches, inverts and switches value and thread") {
  NEEDS_BROWSER();
  const nlohmann::json out = drive(small(), R"js(
    const leaf = () => layout.flat().find(e => title(e.n) === 'leaf' && e.n.depth === 3);
    out.title = document.title;
    out.names = layout.map(row => row.map(e => title(e.n)));
    out.all = root.value;
    set('search', 'LEAF', 'input');
    out.found = $('found').textContent;
    point('pointermove', leaf(), 'mouse');
    out.hover = $('name').textContent + ' ' + $('cost').textContent;
    point('click', leaf(), 'mouse');
    out.zoomed = title(view.focus);
    out.wide = layout[view.focus.depth][0].w === scroll.clientWidth;
    key('Escape');
    out.whole = view.focus === root;
    key('i');
    out.leaves = kids(root).map(k => [title(k), k.value, k.own]);
    out.callers = kids(kids(root)[0]).map(k => [title(k), k.value]);
    out.inverted = root.value;
    out.foundInverted = $('found').textContent;
    $('invert').click();
    out.back = kids(root).map(title);
    set('type', 0, 'change');
    out.samples = root.value;
    set('thread', 2, 'change');
    out.worker = [root.value, kids(root).map(title)];
    out.options = [...$('thread').options].map(o => o.text);
  )js", "1000,700");
  CAPTURE(out.dump(1));
  CHECK(out["errors"].empty());
  CHECK(out["title"].get<std::string>().find("</script> game") == 0);
  CHECK(out["names"] == nlohmann::json::parse(R"([["all"],["<main>","block"],["run","leaf"],["leaf"]])"));
  CHECK(out["all"] == 10'000'000);
  CHECK(out["found"] == "70.00 % match · 7.00 ms");
  CHECK(out["hover"] == "leaf 6.00 ms · 60.00 % of all · 6.00 ms its own · game.rb:12");
  CHECK(out["zoomed"] == "leaf");
  CHECK(out["wide"] == true);
  CHECK(out["whole"] == true);
  CHECK(out["leaves"] == nlohmann::json::parse(R"([["leaf",7000000,7000000],["run",3000000,3000000]])"));
  CHECK(out["callers"] == nlohmann::json::parse(R"([["run",6000000],["block",1000000]])"));
  CHECK(out["inverted"] == out["all"]);
  CHECK(out["foundInverted"] == out["found"]);
  CHECK(out["back"] == nlohmann::json({"<main>", "block"}));
  CHECK(out["samples"] == 10);
  CHECK(out["worker"] == nlohmann::json::parse(R"([1,["block"]])"));
  CHECK(out["options"] == nlohmann::json({"all threads", "(no thread)", "main, 1", "worker, 2"}));
}

TEST_CASE("the page is used by keys alone, and by a finger") {
  NEEDS_BROWSER();
  const nlohmann::json out = drive(small(), R"js(
    key('ArrowDown'); key('ArrowDown');
    out.down = title(view.at);
    key('ArrowRight'); out.right = title(view.at);
    key('ArrowLeft'); key('ArrowDown'); out.run = title(view.at);
    key('Enter'); out.zoomed = title(view.focus);
    key('ArrowUp'); out.up = title(view.at);
    key('Escape');
    key('/'); out.search = document.activeElement.id;
    $('search').dispatchEvent(new KeyboardEvent('keydown', {key: 'i', bubbles: true}));
    out.typed = view.inverted;
    const e = layout[2][0];
    point('click', e, 'touch'); out.tap = [title(view.at), view.focus === root];
    point('click', e, 'touch'); out.tapTap = title(view.focus);
    out.over = document.documentElement.scrollWidth > innerWidth;
  )js", "500,800");
  CAPTURE(out.dump(1));
  CHECK(out["errors"].empty());
  CHECK(out["down"] == "<main>");
  CHECK(out["right"] == "block");
  CHECK(out["run"] == "run");
  CHECK(out["zoomed"] == "run");
  CHECK(out["up"] == "<main>");
  CHECK(out["search"] == "search");
  CHECK(out["typed"] == false);
  CHECK(out["tap"] == nlohmann::json::parse(R"(["run",true])"));
  CHECK(out["tapTap"] == "run");
  CHECK(out["over"] == false);
}

TEST_CASE("the page shows hostile names, deep stacks and many of them, and an empty profile") {
  NEEDS_BROWSER();
  profile_builder empty(time_value_types());
  const nlohmann::json nothing = drive(std::move(empty).build(), "out.empty = !$('empty').hidden;",
                                       "800,600");
  CHECK(nothing["errors"].empty());
  CHECK(nothing["empty"] == true);

  std::mt19937 random(11);
  profile_builder b(time_value_types());
  b.add(stack_of(b, std::vector<std::string>(3000, "deep")), {}, worth(1, 400'000, 1));
  std::int64_t total = 400'000;
  for (int i = 0; i < 50'000; ++i) {
    const auto& all = torture_names();
    std::vector<std::string> names;
    for (auto d = 5 + random() % 30; d > 0; --d) names.push_back(all[random() % all.size()]);
    b.add(stack_of(b, names), {}, worth(1, 100, 1));
    total += 100;
  }
  const nlohmann::json out = drive(std::move(b).build(), R"js(
    out.total = root.value;
    out.rows = layout.length;
    out.drawn = drawn;
    scroll.scrollTop = 1e9; draw();
    out.scrolled = scroll.scrollTop > 1000 && drawn > 0;
    key('i');
    out.inverted = kids(root).reduce((a, k) => a + k.value, 0);
    set('search', '<script>', 'input');
    out.found = $('found').textContent !== '';
  )js", "800,600");
  CAPTURE(out.dump(1));
  CHECK(out["errors"].empty());
  CHECK(out["total"] == total);
  CHECK(out["rows"] == 3001);
  CHECK(out["drawn"] < 20'000);
  CHECK(out["scrolled"] == true);
  CHECK(out["inverted"] == total);
  CHECK(out["found"] == true);
}
