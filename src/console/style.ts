// The look of the status page, in one block that its Content-Security-Policy names by hash: no file to fetch, no script, light and dark.

export const STYLE = `
:root {
  color-scheme: light dark;
  --ground: light-dark(#f6f7f9, #14171c);
  --card: light-dark(#ffffff, #1c2027);
  --line: light-dark(#dfe3e9, #333a45);
  --ink: light-dark(#1b2129, #e6e9ee);
  --soft: light-dark(#596373, #9aa5b5);
  --good: light-dark(#17693a, #6fd39b);
  --good-ground: light-dark(#e3f4ea, #173326);
  --warn: light-dark(#7d4d00, #f0bd62);
  --warn-ground: light-dark(#fdf1da, #3a2d12);
  --bad: light-dark(#a31f1f, #ff9a92);
  --bad-ground: light-dark(#fce7e5, #431d1c);
  --mute-ground: light-dark(#eceff3, #2a303a);
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; max-width: 72rem; padding: 1.25rem 1rem 3rem;
  background: var(--ground); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
}
h1 { font-size: 1.25rem; margin: 0; }
h2 { font-size: 1.15rem; margin: 0; overflow-wrap: anywhere; }
h3 { font-size: 0.95rem; margin: 1.5rem 0 0.5rem; }
p { margin: 0.35rem 0; }
a { color: inherit; }
header { display: flex; flex-wrap: wrap; gap: 0.25rem 1rem; align-items: baseline; margin-bottom: 1rem; }
header p { margin: 0; }
.soft { color: var(--soft); }
section { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 1rem 1.25rem 1.25rem; margin-bottom: 1.25rem; }
.title { display: flex; flex-wrap: wrap; gap: 0.4rem 0.75rem; align-items: center; }
.badge { display: inline-block; border-radius: 999px; padding: 0.05rem 0.6rem; font-size: 0.8rem; font-weight: 600; white-space: nowrap; background: var(--mute-ground); }
.good { color: var(--good); background: var(--good-ground); }
.warn { color: var(--warn); background: var(--warn-ground); }
.bad { color: var(--bad); background: var(--bad-ground); }
.box { border-radius: 8px; padding: 0.6rem 0.85rem; margin: 0.75rem 0; overflow-wrap: anywhere; }
.box ul { margin: 0; padding-left: 1.1rem; }
dl { display: grid; grid-template-columns: repeat(auto-fill, minmax(13.5rem, 1fr)); gap: 0.75rem 1.25rem; margin: 0.9rem 0 0; }
dt { color: var(--soft); font-size: 0.8rem; }
dd { margin: 0; overflow-wrap: anywhere; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 0.9rem; }
th { text-align: left; font-weight: 600; color: var(--soft); font-size: 0.8rem; white-space: nowrap; }
th, td { padding: 0.35rem 0.9rem 0.35rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
tr:last-child td { border-bottom: 0; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
table.compact { width: auto; }
table.compact th, table.compact td { padding-right: 1.75rem; }
td.name { overflow-wrap: anywhere; min-width: 12rem; }
td.text { min-width: 12rem; overflow-wrap: anywhere; }
td.place { white-space: nowrap; }
td.fixed { white-space: nowrap; }
code, pre { font: 0.86em/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
pre { margin: 0.25rem 0; padding: 0.4rem 0.6rem; overflow-x: auto; background: var(--mute-ground); color: var(--ink); border-radius: 6px; }
.bar { display: block; width: 100%; height: 0.9rem; border-radius: 4px; margin: 0.5rem 0; }
.band-uncapped { fill: light-dark(#9aa5b5, #6c7787); background: light-dark(#9aa5b5, #6c7787); }
.band-under_50 { fill: light-dark(#4c9f70, #3f8a60); background: light-dark(#4c9f70, #3f8a60); }
.band-50_to_85 { fill: light-dark(#8fc46b, #7aa855); background: light-dark(#8fc46b, #7aa855); }
.band-85_to_95 { fill: light-dark(#eab54a, #d19f38); background: light-dark(#eab54a, #d19f38); }
.band-95_to_100 { fill: light-dark(#e58139, #cf7030); background: light-dark(#e58139, #cf7030); }
.band-at_cap { fill: light-dark(#cc3d3d, #cf4a4a); background: light-dark(#cc3d3d, #cf4a4a); }
.legend { display: flex; flex-wrap: wrap; gap: 0.2rem 1.1rem; font-size: 0.85rem; padding: 0; margin: 0; list-style: none; }
.swatch { display: inline-block; width: 0.7rem; height: 0.7rem; border-radius: 3px; margin-right: 0.35rem; }
summary { cursor: pointer; }
details { margin-top: 1rem; }
`
