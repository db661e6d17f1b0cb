// The style sheet of all pages and of reports: light and dark, from a phone's screen to a wall's, and on paper.

const BASE = `
* { box-sizing: border-box; }
html { scroll-padding-top: 4rem; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 15px/1.5 var(--text); }
h1 { margin: 0; font-size: 1.4rem; line-height: 1.25; }
h2 { margin: 0; font-size: 1.1rem; }
h3 { margin: 1.25rem 0 0.35rem; font-size: 0.95rem; }
p { margin: 0.35rem 0; }
a { color: var(--link); text-decoration-thickness: 1px; text-underline-offset: 2px; }
:focus-visible { outline: 3px solid var(--focus); outline-offset: 2px; border-radius: 3px; }
.skip { position: absolute; left: 0.5rem; top: -4rem; z-index: 9; padding: 0.5rem 1rem; background: var(--card); border-radius: 0 0 6px 6px; }
.skip:focus { top: 0; }
.soft { color: var(--soft); }
.small { font-size: 0.85rem; }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
code, pre, .code { font: 0.87em/1.5 var(--code); }
code { overflow-wrap: anywhere; }
.fixed code { white-space: nowrap; }
pre { margin: 0.35rem 0; padding: 0.6rem 0.8rem; overflow-x: auto; background: var(--mute); border-radius: 6px; }
pre mark { background: none; color: var(--bad); font-weight: 700; }
time { font-variant-numeric: tabular-nums; }
summary { cursor: pointer; color: var(--soft); font-size: 0.88rem; }
summary:hover { color: var(--ink); }
details { margin-top: 0.75rem; }
ul.plain, ol.plain { margin: 0; padding: 0; list-style: none; }
`

const FRAME = `
.top { position: sticky; top: 0; z-index: 5; display: flex; align-items: center; gap: 0.5rem 1rem; min-height: 3.1rem; padding: 0 1rem; background: var(--card); border-bottom: 1px solid var(--line); }
.top .brand { font-weight: 700; font-size: 1.05rem; color: var(--ink); text-decoration: none; }
.top .state { margin-left: auto; text-align: right; font-size: 0.82rem; color: var(--soft); }
.shell { display: grid; grid-template-columns: 13.5rem minmax(0, 1fr); max-width: 150rem; margin: 0 auto; }
.side { position: sticky; top: 3.1rem; align-self: start; max-height: calc(100vh - 3.1rem); overflow-y: auto; padding: 1rem 0.6rem 2rem 1rem; }
.side h2 { margin: 1rem 0.6rem 0.25rem; color: var(--soft); font-size: 0.75rem; font-weight: 600; text-transform: uppercase; letter-spacing: 0.04em; }
.side ul { margin: 0; padding: 0; list-style: none; }
.side a { display: flex; gap: 0.5rem; align-items: center; padding: 0.32rem 0.6rem; border-radius: 6px; color: var(--ink); text-decoration: none; overflow-wrap: anywhere; }
.side a:hover { background: var(--mute); }
.side a[aria-current] { background: var(--info-ground); color: var(--info); font-weight: 600; }
.side .count { margin-left: auto; }
main { min-width: 0; padding: 1.1rem 1.5rem 4rem 1rem; overflow-wrap: anywhere; }
.crumbs { margin: 0 0 0.35rem; font-size: 0.85rem; color: var(--soft); }
.crumbs ol { display: flex; flex-wrap: wrap; gap: 0 0.4rem; margin: 0; padding: 0; list-style: none; }
.crumbs li + li::before { content: "/ "; }
.title { display: flex; flex-wrap: wrap; gap: 0.4rem 0.75rem; align-items: center; margin-bottom: 1rem; }
.title .end { margin-left: auto; }
footer { padding: 1rem 1.5rem 2rem; text-align: center; font-size: 0.82rem; color: var(--soft); }
@media (max-width: 62rem) {
  .top { flex-wrap: wrap; padding: 0.5rem 1rem 0; }
  .top .state { flex: 1; }
  .shell { display: block; }
  .side { position: static; max-height: none; padding: 0.35rem 0.75rem; border-bottom: 1px solid var(--line); background: var(--card); overflow-x: auto; }
  .side h2 { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .side nav, .side ul { display: flex; gap: 0.15rem; }
  .side a { white-space: nowrap; overflow-wrap: normal; }
  main { padding: 0.9rem 0.75rem 3rem; }
}
`

const PARTS = `
.card, section { background: var(--card); border: 1px solid var(--line); border-radius: var(--radius); padding: 1rem 1.15rem; margin: 0 0 var(--gap); min-width: 0; }
.grid { display: grid; gap: var(--gap); grid-template-columns: repeat(auto-fit, minmax(min(100%, max(30rem, 50% - var(--gap))), 1fr)); margin-bottom: var(--gap); }
.grid > :last-child:nth-child(odd) { grid-column: 1 / -1; }
.grid > * { margin: 0; }
.stack { display: flex; flex-direction: column; gap: var(--gap); min-width: 0; }
.stack > * { margin: 0; }
.stack > :last-child { flex: 1; }
.tiles { display: grid; gap: 0.75rem; grid-template-columns: repeat(auto-fit, minmax(min(100%, 9.5rem), 1fr)); margin: 0 0 var(--gap); }
.tile { display: block; margin: 0; padding: 0.8rem 1rem; border: 1px solid var(--line); border-left: 4px solid var(--line); border-radius: var(--radius); background: var(--card); }
.tile dt { color: var(--soft); font-size: 0.82rem; }
.tile dd { margin: 0; }
.tile .value { font-size: 1.55rem; font-weight: 650; line-height: 1.25; font-variant-numeric: tabular-nums; }
.tile .note { font-size: 0.84rem; color: var(--soft); }
.tile.t-good { border-left-color: var(--good); }
.tile.t-warn { border-left-color: var(--warn); }
.tile.t-bad { border-left-color: var(--bad); }
.badge { display: inline-flex; gap: 0.3rem; align-items: center; padding: 0.05rem 0.55rem; border-radius: 999px; background: var(--mute); color: var(--ink); font-size: 0.8rem; font-weight: 600; white-space: nowrap; }
.good { color: var(--good); background: var(--good-ground); }
.warn { color: var(--warn); background: var(--warn-ground); }
.bad { color: var(--bad); background: var(--bad-ground); }
.info { color: var(--info); background: var(--info-ground); }
.box { margin: 0 0 0.75rem; padding: 0.65rem 0.9rem; border-radius: var(--radius); }
.box a { color: inherit; }
.box p:first-child { margin-top: 0; }
.box p:last-child { margin-bottom: 0; }
.needs { margin: 0 0 var(--gap); padding: 0; list-style: none; border: 1px solid var(--line); border-radius: var(--radius); overflow: hidden; background: var(--card); }
.needs li { display: flex; flex-wrap: wrap; gap: 0.2rem 0.75rem; align-items: baseline; padding: 0.55rem 1rem; border-left: 4px solid; }
.needs li + li { border-top: 1px solid var(--line); }
.needs li.bad, .needs li.warn, .needs li.info { background: none; }
.needs .what { color: var(--ink); flex: 1 1 20rem; min-width: 0; }
.needs .where { color: var(--soft); }
.needs strong { white-space: nowrap; }
dl.facts { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 13rem), 1fr)); gap: 0.7rem 1.25rem; margin: 0.6rem 0 0; }
dl.facts dt { color: var(--soft); font-size: 0.8rem; }
dl.facts dd { margin: 0; }
.scroll { position: relative; overflow-x: auto; background-image: linear-gradient(to right, var(--card) 50%, transparent), linear-gradient(to left, var(--card) 50%, transparent), linear-gradient(to right, var(--line), transparent), linear-gradient(to left, var(--line), transparent); background-position: left, right, left, right; background-size: 2.5rem 100%, 2.5rem 100%, 0.9rem 100%, 0.9rem 100%; background-repeat: no-repeat; background-attachment: local, local, scroll, scroll; }
table { width: 100%; border-collapse: collapse; font-size: 0.9rem; overflow-wrap: normal; }
caption { padding-bottom: 0.35rem; text-align: left; color: var(--soft); font-size: 0.85rem; }
thead th { color: var(--soft); font-size: 0.8rem; font-weight: 600; white-space: nowrap; vertical-align: bottom; }
thead th.number { white-space: normal; min-width: 4rem; }
thead th a { color: inherit; }
th { text-align: left; font-weight: 400; }
th, td { padding: 0.4rem 1rem 0.4rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
th:last-child, td:last-child { padding-right: 0; }
tbody tr:last-child > * { border-bottom: 0; }
tbody tr:hover { background: color-mix(in srgb, var(--mute) 55%, transparent); }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.name { overflow-wrap: break-word; min-width: 9rem; }
.text { overflow-wrap: anywhere; min-width: 12rem; }
.fixed { white-space: nowrap; }
table.compact { width: auto; }
table.compact th, table.compact td { padding-right: 1.6rem; }
form.filters { display: flex; flex-wrap: wrap; gap: 0.6rem 0.75rem; align-items: end; margin: 0 0 0.9rem; }
form.filters label { display: grid; grid-template-columns: minmax(0, auto); max-width: 100%; gap: 0.15rem; color: var(--soft); font-size: 0.8rem; }
form.filters .grow { flex: 1 1 14rem; }
input, select, button, .button { max-width: 100%; min-height: 2.2rem; padding: 0.3rem 0.65rem; border: 1px solid light-dark(#858f9e, #6b7687); border-radius: 6px; background: var(--card); color: var(--ink); font: inherit; }
button, .button { cursor: pointer; background: var(--mute); text-decoration: none; }
button:hover, .button:hover { border-color: var(--ink); }
.part > nav { margin-bottom: 0.9rem; }
.pages { display: flex; flex-wrap: wrap; gap: 0.4rem; align-items: center; margin-top: 0.8rem; }
.paste { display: flex; gap: 0.5rem; align-items: start; margin: 0.35rem 0; }
.paste pre { flex: 1; min-width: 0; margin: 0; white-space: pre-wrap; overflow-wrap: anywhere; }
.timeline { margin: 0; padding: 0; list-style: none; }
.timeline li { display: grid; grid-template-columns: 8.5rem 7.5rem minmax(0, 1fr); gap: 0 0.75rem; padding: 0.45rem 0; border-bottom: 1px solid var(--line); }
.timeline li:last-child { border-bottom: 0; }
.steps { counter-reset: step; margin: 0; padding: 0; list-style: none; }
.steps > li { counter-increment: step; position: relative; padding: 0 0 0.75rem 2.1rem; }
.steps > li::before { content: counter(step); position: absolute; left: 0; top: 0; width: 1.5rem; height: 1.5rem; border-radius: 50%; background: var(--mute); text-align: center; font-size: 0.8rem; line-height: 1.5rem; }
.stale { padding: 0.05rem 0.55rem; border-radius: 999px; background: var(--warn-ground); color: var(--warn); font-weight: 600; }
.bandbar { display: block; border-radius: 4px; margin: 0.5rem 0; }
.band-uncapped { fill: var(--c-rest); }
.band-under_50 { fill: var(--c-s4); }
.band-50_to_85 { fill: var(--c-s0); }
.band-85_to_95 { fill: var(--c-s5); }
.band-95_to_100 { fill: var(--c-s1); }
.band-at_cap { fill: var(--c-limit); }
@media (max-width: 90rem) {
  th, td { padding-right: 0.7rem; }
  thead th.number { min-width: 3rem; }
  .name { min-width: 6rem; }
  td .meter { min-width: 3.5rem; }
  .grid th, .grid td { padding-right: 0.5rem; }
  .grid th:last-child, .grid td:last-child { padding-right: 0; }
}
@media (max-width: 40rem) {
  table.amounts th { min-width: 5.5rem; }
  td.measure { min-width: 4rem; }
  .name { min-width: 8.5rem; overflow-wrap: anywhere; }
  .timeline li { grid-template-columns: 1fr auto; }
  .timeline li > :last-child { grid-column: 1 / -1; }
}
`

const PAPER = `
@page { margin: 1.5cm; }
@media print {
  :root { color-scheme: light; font-size: 11px; }
  body { background: #fff; font-size: 1rem; }
  .top, .side, .crumbs, .skip, form.filters, .pages, footer, button { display: none; }
  .shell { display: block; }
  main { padding: 0; }
  figure.chart { margin-bottom: 1rem; }
  .scroll { overflow: visible; background: none; }
  th, td { padding-right: 0.6rem; }
  .name, .text { min-width: 6rem; overflow-wrap: anywhere; }
  thead th, thead th.number { min-width: 0; white-space: normal; overflow-wrap: normal; }
  details:not([open]) { display: none; }
  .fixed { white-space: normal; }
  section, .card { border: 0; padding: 0; break-inside: auto; }
  tr, figure, .tile { break-inside: avoid; }
  thead { display: table-header-group; }
  a { color: inherit; text-decoration: none; }
}
@media (prefers-reduced-motion: no-preference) { .skip { transition: top 0.1s; } }
`

// Colours and measures of all pages, light and dark. Chart colours can be told apart by colour-blind people (after Okabe and Ito) and have a contrast of
// 3:1; text has 4.5:1. Nothing is said by colour alone.

const TOKENS = `
:root {
  color-scheme: light dark;
  --ground: light-dark(#f5f6f8, #11141a);
  --card: light-dark(#ffffff, #1a1e26);
  --mute: light-dark(#eceff3, #262c37);
  --line: light-dark(#dce0e7, #323a47);
  --ink: light-dark(#1a2029, #e7eaf0);
  --soft: light-dark(#566072, #9ba6b7);
  --link: light-dark(#0b57b0, #7db8ff);
  --focus: light-dark(#0b57b0, #a9d0ff);
  --good: light-dark(#12663a, #6fd39b);
  --good-ground: light-dark(#e1f3e8, #15301f);
  --warn: light-dark(#7a4a00, #f0bd62);
  --warn-ground: light-dark(#fdf0d5, #382a10);
  --bad: light-dark(#a01c1c, #ff9d95);
  --bad-ground: light-dark(#fce6e4, #421c1b);
  --info: light-dark(#0b4f9e, #8cc2ff);
  --info-ground: light-dark(#e4effc, #14294a);
  --c-main: light-dark(#0072b2, #4aa8e0);
  --c-even: light-dark(#7a8494, #8a95a5);
  --c-limit: light-dark(#a01c1c, #ff9d95);
  --c-balance: light-dark(#9a7400, #e0bd3f);
  --c-good: light-dark(#009e73, #2fc295);
  --c-bad: light-dark(#d55e00, #f08a3c);
  --c-s0: light-dark(#0072b2, #4aa8e0);
  --c-s1: light-dark(#d55e00, #f08a3c);
  --c-s2: light-dark(#009e73, #2fc295);
  --c-s3: light-dark(#a2528f, #d991c5);
  --c-s4: light-dark(#3d9bd4, #8cccf2);
  --c-s5: light-dark(#9a7400, #e0bd3f);
  --c-s6: light-dark(#5b5fc7, #9ea1f2);
  --c-rest: light-dark(#8791a1, #727d8e);
  --heat: light-dark(#0072b2, #4aa8e0);
  --heat-warm: light-dark(#d58a00, #e0bd3f);
  --heat-hot: light-dark(#d55e00, #f08a3c);
  --gap: 1rem;
  --radius: 8px;
  --text: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
  --code: ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace;
}
`

// Styles of charts. Colours go by the class of a tone, so that one drawing fits both themes and paper.

const TONES = ['main', 'even', 'limit', 'balance', 'good', 'bad', 's0', 's1', 's2', 's3', 's4', 's5', 's6', 'rest']

/** How strong a cell of a heat map is, by step. */
const HEAT = [0, 10, 18, 28, 40, 55]
const HEATS = [
  ['none', '--c-rest'],
  ['cool', '--heat'],
  ['warm', '--heat-warm'],
  ['hot', '--heat-hot'],
] as const

const CHART_STYLE = `
figure.chart { margin: 0; min-width: 0; }
.facts + figure.chart, figure.chart + figure.chart { margin-top: 1.5rem; }
figcaption h2, figcaption h3 { margin: 0; font-size: 1rem; }
figcaption p { margin: 0.15rem 0 0; }
.drawing { container-type: inline-size; position: relative; margin-top: 0.5rem; padding-left: 42px; }
.plot { display: block; overflow: visible; }
.plot > svg { overflow: visible; }
.plot .grid { stroke: var(--line); stroke-width: 1; }
.plot .axis { stroke: var(--soft); stroke-width: 1; }
.plot .tick { fill: var(--soft); font-size: 11px; font-variant-numeric: tabular-nums; }
@container (max-width: 30rem) { .plot .tick.odd { display: none; } }
.plot .word { fill: var(--ink); font-size: 11px; font-weight: 600; }
.plot .slots rect { fill: transparent; }
.plot .slots rect:hover, .plot .slots rect.at { fill: var(--soft); fill-opacity: 0.14; }
.line { fill: none; stroke-width: 2; stroke-linejoin: round; vector-effect: non-scaling-stroke; }
.area { stroke: none; fill-opacity: 0.14; }
.band { stroke: none; fill-opacity: 0.2; }
.bar { stroke: none; }
.dot { stroke: var(--card); stroke-width: 1.5; }
.instant { stroke-width: 1; stroke-dasharray: 2 3; }
.dashed { stroke-dasharray: 5 4; }
${TONES.map(
  (tone) => `.line.t-${tone}, .instant.t-${tone} { stroke: var(--c-${tone}); }
.area.t-${tone}, .band.t-${tone}, .bar.t-${tone}, .dot.t-${tone} { fill: var(--c-${tone}); }`,
).join('\n')}
.legend { display: flex; flex-wrap: wrap; gap: 0.15rem 1rem; margin: 0.5rem 0 0; padding: 0; list-style: none; font-size: 0.85rem; color: var(--soft); }
.legend .key { margin-right: 0.4rem; vertical-align: -1px; }
.tip { position: absolute; top: 0; z-index: 2; max-width: 16rem; padding: 0.4rem 0.6rem; border: 1px solid var(--line); border-radius: 6px; background: var(--card); color: var(--ink); font-size: 0.8rem; box-shadow: 0 2px 8px light-dark(#0002, #0008); pointer-events: none; }
.tip dl { display: grid; grid-template-columns: auto auto; gap: 0 0.75rem; margin: 0; }
.tip dt { color: var(--soft); }
.tip dd { margin: 0; text-align: right; font-variant-numeric: tabular-nums; }
.meter { display: block; min-width: 5rem; max-width: 26rem; margin-top: 0.45em; }
.meter .trough { fill: var(--mute); }
table.amounts th[scope="row"] { min-width: 6.5rem; }
td.measure { width: 30%; min-width: 6rem; vertical-align: middle; }
table.heat td, table.heat th { padding: 0.4rem 0.7rem; }
table.heat td { border: 2px solid var(--card); }
table.heat td a { color: inherit; }
${HEATS.flatMap(([tone, colour]) =>
  HEAT.map((strength, step) => `.heat-${tone}.h${step} { background: color-mix(in srgb, var(${colour}) ${strength}%, transparent); }`),
).join('\n')}
`

export const STYLE = `${TOKENS}${BASE}${FRAME}${PARTS}${CHART_STYLE}${PAPER}`
