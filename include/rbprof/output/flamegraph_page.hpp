// SPDX-FileCopyrightText: 2026 The rbprof authors
// SPDX-License-Identifier: MIT
#ifndef RBPROF_OUTPUT_FLAMEGRAPH_PAGE_HPP
#define RBPROF_OUTPUT_FLAMEGRAPH_PAGE_HPP

#include <string_view>

// The page of the flame graph, around the data. One file with no network: its content security policy
// forbids any load. The graph is a canvas that holds only the rows on screen; a node's callees are
// computed when the node is wide enough to be seen, so that 50 000 stacks are no more work than fit.
//
// Colours tell kinds apart (Ruby, native, the VM itself) in lightness as well as in hue; matches of a
// search are outlined, not only coloured.

namespace rbprof::inline v0 {
namespace output {
namespace detail {

inline constexpr std::string_view flamegraph_page_head = R"page(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<title>flame graph</title>
<style>
:root { color-scheme: light dark; --back: #fff; --text: #1b1b1b; --edge: #c8c8c8; --bar: #f2f2f2; }
@media (prefers-color-scheme: dark) {
 :root { --back: #1b1b1b; --text: #eee; --edge: #555; --bar: #2a2a2a; }
}
* { box-sizing: border-box; }
html, body { height: 100%; margin: 0; }
body { display: flex; flex-direction: column; background: var(--back); color: var(--text);
 font: 15px/1.35 system-ui, sans-serif; }
header, footer { background: var(--bar); padding: 6px 10px; }
header { display: flex; flex-wrap: wrap; gap: 6px 10px; align-items: center; }
h1 { font-size: 16px; margin: 0; max-width: 100%; overflow: hidden; text-overflow: ellipsis;
 white-space: nowrap; }
select, button, input { font: inherit; font-size: 16px; min-height: 34px; max-width: 100%; }
select { max-width: 15em; }
input { width: 11em; flex: 0 1 auto; }
button[aria-pressed=true] { outline: 2px solid currentColor; }
#scroll { flex: 1; overflow-y: auto; position: relative; border: solid var(--edge);
 border-width: 1px 0; }
#scroll:focus-visible { outline: 3px solid #0072b2; outline-offset: -3px; }
canvas { position: sticky; top: 0; display: block; width: 100%; touch-action: pan-y; }
#empty { padding: 2em; text-align: center; }
footer { min-height: 5.2em; overflow-wrap: anywhere; }
#name { font-weight: 600; max-height: 4em; overflow-y: auto; }
#note { font-size: 13px; }
.key { display: inline-block; width: 1em; height: .8em; border: 1px solid #444; margin-left: .7em; }
</style>
</head>
<body>
<header>
<h1 id="title"></h1>
<select id="type" aria-label="value"></select>
<select id="thread" aria-label="thread"></select>
<button id="invert" aria-pressed="false" title="key i">By leaf</button>
<button id="reset" title="key Escape">Whole</button>
<input id="search" type="search" placeholder="Search  ( / )" aria-label="search names and files"
 autocomplete="off" autocapitalize="off" spellcheck="false">
<span id="found" role="status"></span>
</header>
<div id="scroll" tabindex="0" role="application"
 aria-label="flame graph: arrow keys move, Enter zooms, Escape shows the whole">
<canvas id="graph"></canvas><div id="room"></div><div id="empty" hidden>No samples here.</div>
</div>
<footer>
<div id="name" role="status"></div><div id="cost"></div>
<div id="note">Click or Enter zooms, Escape shows the whole, arrows move, / searches, i inverts.
<span class="key" style="background:#f0c24b"></span> Ruby
<span class="key" style="background:#8cc8f0"></span> native
<span class="key" style="background:#bdbdbd"></span> VM</div>
</footer>
<script type="application/json" id="profile">
)page";

inline constexpr std::string_view flamegraph_page_tail = R"page(
</script>
<script>
'use strict';
const $ = id => document.getElementById(id);
const data = JSON.parse($('profile').textContent);
const {types, threads, strings, functions, frames, stacks, rows} = data;
const stackCount = stacks.length / 2 + 1;  // stack 0 is the empty one
const parentOf = s => stacks[2 * s - 2];
const functionOf = s => frames[2 * stacks[2 * s - 1]];
const lineOf = s => frames[2 * stacks[2 * s - 1] + 1];
const nameOf = f => strings[functions[3 * f]];
const fileOf = f => strings[functions[3 * f + 1]];

// Children of each stack as one array and where each one's part begins.
const firstChild = new Uint32Array(stackCount + 1), child = new Uint32Array(stackCount);
for (let s = 1; s < stackCount; s++) firstChild[parentOf(s) + 1]++;
for (let s = 1; s <= stackCount; s++) firstChild[s] += firstChild[s - 1];
const filled = firstChild.slice();
for (let s = 1; s < stackCount; s++) child[filled[parentOf(s)]++] = s;

const view = {type: data.shown, thread: -1, inverted: false, focus: null, at: null, query: ''};
let own, all, root, layout = [], hit = null, drawn = 0;

// ---- the tree, computed where it is looked at ----
function count() {
 own = new Float64Array(stackCount);
 const step = 2 + types.length;
 for (let i = 0; i < rows.length; i += step) {
  if (view.thread < 0 || rows[i + 1] === view.thread) own[rows[i]] += rows[i + 2 + view.type];
 }
 all = own.slice();
 for (let s = stackCount - 1; s > 0; s--) all[parentOf(s)] += all[s];
 root = {f: -1, value: all[0], own: 0, up: null, depth: 0, at: [0], part: [all[0]], kids: null};
 view.focus = root;
 view.at = null;
}
// What a node is made of: stacks (`at`) and the share of each (`part`).
function each(node, visit) {
 if (!view.inverted) {
  for (const s of node.at) {
   for (let i = firstChild[s]; i < firstChild[s + 1]; i++) visit(child[i], all[child[i]]);
  }
 } else if (node === root) {
  for (let s = 1; s < stackCount; s++) visit(s, own[s]);
 } else {
  node.at.forEach((s, i) => { if (parentOf(s)) visit(parentOf(s), node.part[i]); });
 }
}
function kids(node) {
 if (node.kids) return node.kids;
 const by = new Map();
 each(node, (s, part) => {
  if (part === 0) return;
  const f = functionOf(s);
  let k = by.get(f);
  if (!k) by.set(f, k = {f, value: 0, own: 0, up: node, depth: node.depth + 1, at: [], part: [],
                         kids: null});
  k.value += part;
  k.own += view.inverted ? (node === root ? part : 0) : own[s];
  k.at.push(s);
  k.part.push(part);
 });
 return node.kids = [...by.values()].sort((a, b) => b.value - a.value || (a.f - b.f));
}

// ---- text ----
function amount(v) {
 const unit = types[view.type].unit;
 const scales = {nanoseconds: [[1e9, ' s'], [1e6, ' ms'], [1e3, ' µs'], [1, ' ns']],
                 bytes: [[1073741824, ' GiB'], [1048576, ' MiB'], [1024, ' KiB'], [1, ' B']]}[unit];
 if (!scales) return v.toLocaleString('en');
 const [size, name] = scales.find(s => v >= s[0]) || scales[3];
 return (size > 1 ? (v / size).toFixed(2) : v) + name;
}
const share = (v, of) => of ? (100 * v / of).toFixed(v < of ? 2 : 0) + ' %' : '0 %';
const title = n => n.f < 0 ? 'all' : nameOf(n.f);
function place(n) {  // the line that cost most, and how many more there are
 if (n.f < 0 || !fileOf(n.f)) return '';
 const by = new Map();
 n.at.forEach((s, i) => by.set(lineOf(s), (by.get(lineOf(s)) || 0) + n.part[i]));
 const [line] = [...by].sort((a, b) => b[1] - a[1])[0];
 return fileOf(n.f) + (line ? ':' + line : '') +
     (by.size > 1 ? ' (+' + (by.size - 1) + ')' : '');
}
function tell(n) {
 $('name').textContent = n ? title(n) : '';
 $('cost').textContent = !n ? '' : [amount(n.value), share(n.value, root.value) + ' of all',
  n.own ? amount(n.own) + ' its own' : '', place(n)].filter(Boolean).join(' · ');
}

// ---- search ----
function search() {
 const query = view.query.toLowerCase();
 hit = null;
 $('found').textContent = '';
 if (!query) return draw();
 const has = i => strings[i].toLowerCase().includes(query);
 hit = new Uint8Array(functions.length / 3);
 for (let f = 0; f < hit.length; f++) hit[f] = has(functions[3 * f]) || has(functions[3 * f + 1]);
 const below = new Uint8Array(stackCount);  // it or a caller of it matches: a stack counts once
 let sum = 0;
 for (let s = 1; s < stackCount; s++) {
  below[s] = below[parentOf(s)] || hit[functionOf(s)];
  if (below[s]) sum += own[s];
 }
 $('found').textContent = share(sum, root.value) + ' match · ' + amount(sum);
 draw();
}

// ---- drawing ----
const scroll = $('scroll'), canvas = $('graph'), pen = canvas.getContext('2d');
const rowHeight = matchMedia('(pointer: coarse)').matches ? 26 : 20, least = 0.7;
function arrange() {
 const width = scroll.clientWidth;
 layout = [];
 const above = [];
 for (let n = view.focus.up; n; n = n.up) above.unshift(n);
 for (const n of above) layout.push([{n, x: 0, w: width}]);
 for (let row = [{n: view.focus, x: 0, w: width}]; row.length && root.value > 0;) {
  layout.push(row);
  const next = [];
  for (const {n, x, w, rest} of row) {
   let left = x;
   for (const k of rest ? [] : kids(n)) {
    const wide = w * k.value / n.value;
    if (wide < least) {  // sorted: what follows is smaller still, and shown as one block
     const others = kids(n).slice(kids(n).indexOf(k) + 1).reduce((a, o) => a + o.value, k.value);
     if (w * others / n.value >= 1) next.push({n, x: left, w: w * others / n.value, rest: true});
     break;
    }
    next.push({n: k, x: left, w: wide});
    left += wide;
   }
  }
  row = next;
 }
 $('empty').hidden = root.value > 0;
 draw();
}
function colour(f) {
 if (f < 0) return '#e3e3e3';
 const name = nameOf(f), file = fileOf(f);
 if (name.startsWith('(') || name === 'Garbage Collection' || name === 'sampling' ||
     name === 'Truncated Frames') return '#bdbdbd';
 let h = 0;
 for (let i = 0; i < file.length; i++) h = (h * 31 + file.charCodeAt(i)) >>> 0;
 if (!file || file.startsWith('<')) return '#8cc8f0';
 return `hsl(${36 + h % 18} ${72 + h % 14}% ${58 + (h >>> 8) % 14}%)`;
}
function draw() {
 const ratio = devicePixelRatio || 1, width = scroll.clientWidth, height = scroll.clientHeight;
 $('room').style.height = Math.max(0, (layout.length + 1) * rowHeight - height) + 'px';
 canvas.style.height = height + 'px';
 if (canvas.width !== width * ratio || canvas.height !== height * ratio) {
  canvas.width = width * ratio;
  canvas.height = height * ratio;
 }
 pen.setTransform(ratio, 0, 0, ratio, 0, 0);
 pen.clearRect(0, 0, width, height);
 pen.font = '12px ui-monospace, Menlo, Consolas, monospace';
 pen.textBaseline = 'middle';
 const wide = pen.measureText('m').width;
 const from = Math.floor(scroll.scrollTop / rowHeight);
 const to = Math.min(layout.length, from + Math.ceil(height / rowHeight) + 1);
 drawn = 0;
 for (let r = from; r < to; r++) {
  const y = r * rowHeight - scroll.scrollTop;
  for (const {n, x, w, rest} of layout[r]) {
   if (rest) {
    pen.fillStyle = '#8884';
    pen.fillRect(x, y, w, rowHeight - 1);
    continue;
   }
   const match = hit && n.f >= 0 && hit[n.f], gap = w > 3 ? 1 : 0;
   pen.globalAlpha = (hit && !match) || r < view.focus.depth ? 0.45 : 1;
   pen.fillStyle = colour(n.f);
   pen.fillRect(x, y, w - gap, rowHeight - 1);
   pen.globalAlpha = 1;
   drawn++;
   if (match || n === view.at) {
    pen.strokeStyle = n === view.at ? '#0072b2' : '#7a0050';
    pen.lineWidth = n === view.at ? 3 : 2;
    pen.strokeRect(x + 1, y + 1, Math.max(1, w - gap - 2), rowHeight - 3);
   }
   const room = Math.floor((w - 8) / wide);
   if (room < 3) continue;
   const text = title(n).slice(0, 500);
   pen.fillStyle = pen.globalAlpha < 1 ? '#444' : '#111';
   pen.fillText(text.length > room ? text.slice(0, room - 1) + '…' : text, x + 4, y + rowHeight / 2);
  }
 }
}

// ---- what the user does ----
function find(event) {
 const box = canvas.getBoundingClientRect(), x = event.clientX - box.left;
 const row = layout[Math.floor((event.clientY - box.top + scroll.scrollTop) / rowHeight)] || [];
 const got = row.find(e => x >= e.x && x < e.x + e.w);
 return got ? got.n : null;
}
function select(n) {
 view.at = n;
 tell(n);
 if (n) {
  const y = n.depth * rowHeight;
  if (y < scroll.scrollTop) scroll.scrollTop = y;
  const over = y + 2 * rowHeight - scroll.scrollTop - scroll.clientHeight;
  if (over > 0) scroll.scrollTop += over;
 }
 draw();
}
function zoom(n) { view.focus = n || root; arrange(); select(n || root); }
function restart() { count(); arrange(); tell(root); search(); }
function side(step) {
 const near = view.at && view.at.up ? kids(view.at.up) : [];
 select(near[near.indexOf(view.at) + step] || view.at || root);
}
function invert() {
 view.inverted = !view.inverted;
 $('invert').setAttribute('aria-pressed', view.inverted);
 restart();
}
const keys = {
 ArrowUp: () => select(view.at && view.at.up || root),
 ArrowDown: () => select(view.at ? kids(view.at)[0] || view.at : view.focus),
 ArrowLeft: () => side(-1),
 ArrowRight: () => side(1),
 Enter: () => zoom(view.at),
 Escape: () => zoom(root),
 '/': () => $('search').focus(),
 i: invert,
};
document.addEventListener('keydown', e => {
 if (e.ctrlKey || e.metaKey || e.altKey || !keys[e.key]) return;
 const form = /^(INPUT|SELECT|BUTTON)$/.test(e.target.tagName);
 if (form && !(e.key === 'Escape' && e.target.id === 'search')) return;
 e.preventDefault();
 if (!form) return keys[e.key]();
 $('search').value = view.query = '';
 search();
 scroll.focus();
});
let hovered = null;
canvas.addEventListener('pointermove', e => {
 const n = find(e);
 canvas.style.cursor = n ? 'pointer' : 'default';
 if (n !== hovered && e.pointerType !== 'touch') tell(hovered = n || view.at || root);
});
// A finger has no hover: the first tap tells, the second on the same frame zooms.
canvas.addEventListener('click', e => {
 const n = find(e);
 if (!n) return;
 if (e.pointerType === 'touch' && view.at !== n) select(n); else zoom(n);
});
scroll.addEventListener('scroll', draw);
$('search').addEventListener('input', e => { view.query = e.target.value; search(); });
$('invert').addEventListener('click', invert);
$('reset').addEventListener('click', () => zoom(root));
$('type').addEventListener('change', e => { view.type = Number(e.target.value); restart(); });
$('thread').addEventListener('change', e => { view.thread = Number(e.target.value); restart(); });

document.title = data.program + ' – flame graph';
$('title').textContent = data.program;
$('title').title = data.comments.join('\n');
types.forEach((t, i) => $('type').add(new Option(t.name, i, false, i === view.type)));
$('thread').add(new Option('all threads', -1));
threads.forEach((t, i) => $('thread').add(new Option(t, i)));
new ResizeObserver(() => requestAnimationFrame(arrange)).observe(scroll);
restart();
</script>
</body>
</html>
)page";

}  // namespace detail
}  // namespace output
}  // namespace rbprof::inline v0

#endif  // RBPROF_OUTPUT_FLAMEGRAPH_PAGE_HPP
