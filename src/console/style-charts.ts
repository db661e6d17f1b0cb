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

export const CHART_STYLE = `
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
