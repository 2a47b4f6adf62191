#include "tools/view/page_assets.h"

namespace imgpack::tools {

const std::string_view kPageStyle = R"css(
:root {
  color-scheme: light dark;
  --paper: #fafaf8; --card: #ffffff; --ink: #24262a; --faint: #666b73; --rule: #e3e3de;
  --bar: #7d9cc0; --tile: #eeeeea; --alarm: #b42318; --alarm-ground: #fdf1ef; --mark: #8a5a00; --mark-ground: #fdf6e6;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #17181b; --card: #1f2125; --ink: #e6e6e3; --faint: #9aa0a8; --rule: #33363c;
    --bar: #5f83ad; --tile: #2a2d32; --alarm: #ff9a8d; --alarm-ground: #35201e; --mark: #e5bd6a; --mark-ground: #322a1a;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; padding: 2.5rem 1.5rem 5rem; max-width: 72rem; background: var(--paper); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", Cantarell, sans-serif;
}
h1 { font-size: 1.5rem; font-weight: 650; margin: 0; overflow-wrap: anywhere; }
h2 { font-size: 1.15rem; font-weight: 650; margin: 3rem 0 .75rem; }
h3 { font-size: .95rem; font-weight: 650; margin: 1.75rem 0 .5rem; }
p { margin: .4rem 0; max-width: 46rem; }
.faint, caption, figcaption { color: var(--faint); }
.tiles { display: grid; grid-template-columns: repeat(auto-fill, minmax(8.4rem, 1fr)); gap: .75rem; margin: 1.5rem 0 0; padding: 0; }
.tile { background: var(--card); border: 1px solid var(--rule); border-radius: 8px; padding: .7rem .9rem; }
.tile dt { color: var(--faint); font-size: .82rem; }
.tile dd { margin: 0; font-size: 1.35rem; font-weight: 600; font-variant-numeric: tabular-nums; }
.tile.alarm { background: var(--alarm-ground); } .tile.alarm dd { color: var(--alarm); }
.tile.mark { background: var(--mark-ground); } .tile.mark dd { color: var(--mark); }
.columns { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(26rem, 100%), 1fr)); gap: 0 4rem; }
table { border-collapse: collapse; width: 100%; font-size: .88rem; }
th, td { text-align: left; padding: .3rem .9rem .3rem 0; border-bottom: 1px solid var(--rule); vertical-align: top; overflow-wrap: anywhere; }
th { font-weight: 600; color: var(--faint); white-space: nowrap; }
.number { text-align: right; padding-right: 1.6rem; font-variant-numeric: tabular-nums; white-space: nowrap; }
th[data-sort] { cursor: pointer; } th[data-sort]:hover { color: var(--ink); }
.scroll { max-height: 34rem; overflow: auto; border: 1px solid var(--rule); border-radius: 8px; background: var(--card); padding: 0 .9rem; }
.scroll thead th { position: sticky; top: 0; background: var(--card); }
.bars td { border: 0; padding: .1rem .6rem .1rem 0; vertical-align: middle; } .bars td:first-child { white-space: nowrap; width: 8.5rem; }
.bars td:nth-child(2) { width: 100%; } .bar { display: block; height: .75rem; min-width: 2px; border-radius: 2px; background: var(--bar); }
.grid { display: grid; grid-template-columns: repeat(auto-fill, minmax(9rem, 1fr)); gap: 1rem; margin: .6rem 0; }
figure { margin: 0; min-width: 0; }
.picture { display: flex; align-items: center; justify-content: center; aspect-ratio: 1; background: var(--tile); border-radius: 6px; overflow: hidden; color: var(--faint); font-size: .8rem; }
.picture img { max-width: 100%; max-height: 100%; display: block; }
figcaption { font-size: .78rem; line-height: 1.35; margin-top: .35rem; overflow-wrap: anywhere; }
.key { color: var(--ink); unicode-bidi: isolate; } .reason { color: var(--alarm); }
.group { border-top: 1px solid var(--rule); margin-top: 1rem; padding-top: .6rem; }
.flag { display: inline-block; font-size: .76rem; font-weight: 600; padding: .05rem .5rem; border-radius: 99px; margin-right: .4rem; }
.flag.leakage { color: var(--alarm); background: var(--alarm-ground); } .flag.conflict { color: var(--mark); background: var(--mark-ground); }
input[type=search] { font: inherit; color: inherit; background: var(--card); border: 1px solid var(--rule); border-radius: 6px; padding: .3rem .6rem; margin-bottom: .6rem; width: 18rem; max-width: 100%; }
code { font-family: ui-monospace, "SF Mono", Menlo, Consolas, monospace; font-size: .86em; }
a { color: inherit; }
@media print { .scroll { max-height: none; overflow: visible; } }
)css";

const std::string_view kPageScript = R"script(
(function () {
  "use strict";
  var report = JSON.parse(document.getElementById("imgpack-report").textContent);
  function text(id, value) {
    var place = document.getElementById(id);
    if (place) place.textContent = value;
  }
  function sortable(table) {
    table.querySelectorAll("th[data-sort]").forEach(function (head) {
      head.tabIndex = 0;
      function sort() {
        var column = head.cellIndex, falling = head.getAttribute("aria-sort") === "ascending";
        var body = table.tBodies[0], rows = Array.from(body.rows);
        var value = function (row) {
          var cell = row.cells[column];
          return head.dataset.sort === "number" ? Number(cell.dataset.value) : cell.textContent;
        };
        rows.sort(function (a, b) {
          var x = value(a), y = value(b);
          var order = typeof x === "number" ? x - y : x.localeCompare(y);
          return falling ? -order : order;
        });
        table.querySelectorAll("th").forEach(function (other) { other.removeAttribute("aria-sort"); });
        head.setAttribute("aria-sort", falling ? "descending" : "ascending");
        rows.forEach(function (row) { body.appendChild(row); });
      }
      head.addEventListener("click", sort);
      head.addEventListener("keydown", function (event) { if (event.key === "Enter") sort(); });
    });
  }
  function filter(table) {
    var field = document.createElement("input");
    field.type = "search";
    field.placeholder = "Filter classes";
    field.setAttribute("aria-label", "Filter classes");
    var show = function () {
      var wanted = field.value.toLowerCase(), shown = 0;
      Array.from(table.tBodies[0].rows).forEach(function (row) {
        row.hidden = row.textContent.toLowerCase().indexOf(wanted) < 0;
        if (!row.hidden) shown += 1;
      });
      text("shown-classes", shown + " of " + report.class_count + " classes shown");
    };
    field.addEventListener("input", show);
    table.parentNode.parentNode.insertBefore(field, table.parentNode);
    show();
  }
  document.querySelectorAll("table.sortable").forEach(sortable);
  document.querySelectorAll("table.filterable").forEach(filter);
  document.documentElement.dataset.records = report.records;
}());
)script";

const std::string_view kPageScriptHash = "SaLjcb188goa8H8MAsvg103Bnev8R5WI54geedaOH6Y=";

}  // namespace imgpack::tools
