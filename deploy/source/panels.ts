// The parts that dashboards are made of: panels, queries, variables, links, in the JSON model of Grafana (schemaVersion 42, the last one of
// the v1 model). It knows Grafana's words and nothing of capkeeper.

/** Plain JSON. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json }
export type JsonObject = { readonly [key: string]: Json }

/** One query of a panel; `legend` is Grafana's format of a series' name. */
export interface Query {
  readonly expr: string
  readonly legend?: string
  /** Only the present value; default for tables and stats. */
  readonly instant?: boolean
}

export interface Threshold {
  /** `null` for the first. */
  readonly from: number | null
  readonly color: string
}

interface Common {
  readonly title: string
  readonly description: string
  readonly queries: readonly Query[]
  /** A unit id of Grafana. */
  readonly unit?: string
  readonly decimals?: number
  readonly min?: number
  readonly max?: number
  readonly thresholds?: readonly Threshold[]
  /** Of 24 columns. */
  readonly width: number
  readonly height?: number
  /** Colours by the name of the series. */
  readonly colors?: Readonly<Record<string, string>>
}

export interface Graph extends Common {
  readonly kind: 'graph'
  readonly stack?: boolean
  readonly bars?: boolean
  readonly axis?: string
}

export interface Stat extends Common {
  readonly kind: 'stat'
  /** A sparkline behind the figure. */
  readonly graph?: boolean
  /** What stands there: by default the figure, and the name where there are several. */
  readonly show?: 'name'
  /** Shown when there is no series. */
  readonly empty?: string
}

export interface Gauge extends Common {
  readonly kind: 'gauge' | 'bargauge'
}

export interface Table extends Common {
  readonly kind: 'table'
  /** The labels that become columns, in order; then each query's value under its legend. */
  readonly labels: readonly string[]
  /** Per column: unit, thresholds, texts or a link. */
  readonly columns?: Readonly<
    Record<
      string,
      { readonly unit?: string; readonly decimals?: number; readonly thresholds?: readonly Threshold[]; readonly link?: string }
    >
  >
  /** The labels that rows of several queries are joined by. */
  readonly join?: string
}

export type Panel = Graph | Stat | Gauge | Table

/** Panels under a heading, from left to right, then on the next line. */
export interface Row {
  readonly title: string
  readonly panels: readonly Panel[]
  readonly collapsed?: boolean
}

const DATASOURCE: JsonObject = { type: 'prometheus', uid: `\${datasource}` }
const GRID_WIDTH = 24

/** Panels of all rows with their places and ids, which count from 1. */
export function layout(rows: readonly Row[]): readonly JsonObject[] {
  const all: JsonObject[] = []
  let id = 0
  let y = 0
  for (const { title, panels, collapsed = false } of rows) {
    const placed: JsonObject[] = []
    const row: JsonObject = { id: ++id, type: 'row', title, collapsed, gridPos: { x: 0, y, w: GRID_WIDTH, h: 1 } }
    y += 1
    let x = 0
    let tallest = 0
    for (const panel of panels) {
      const height = panel.height ?? 8
      if (x + panel.width > GRID_WIDTH) {
        y += tallest
        x = 0
        tallest = 0
      }
      placed.push({ id: ++id, ...panelJson(panel), gridPos: { x, y, w: panel.width, h: height } })
      x += panel.width
      tallest = Math.max(tallest, height)
    }
    y += tallest
    if (collapsed) all.push({ ...row, panels: placed })
    else all.push({ ...row, panels: [] }, ...placed)
  }
  return all
}

const isInstant = (panel: Panel, query: Query): boolean => query.instant ?? panel.kind !== 'graph'

function panelJson(panel: Panel): JsonObject {
  const targets = panel.queries.map((query, index): JsonObject => {
    const instant = isInstant(panel, query) && !(panel.kind === 'stat' && panel.graph === true)
    return {
      refId: String.fromCharCode('A'.charCodeAt(0) + index),
      datasource: DATASOURCE,
      editorMode: 'code',
      expr: query.expr,
      legendFormat: query.legend ?? '__auto',
      instant,
      range: !instant,
      format: panel.kind === 'table' ? 'table' : 'time_series',
    }
  })
  return {
    type: panel.kind === 'graph' ? 'timeseries' : panel.kind,
    title: panel.title,
    description: panel.description,
    datasource: DATASOURCE,
    targets,
    fieldConfig: { defaults: defaults(panel), overrides: overrides(panel) },
    options: options(panel),
    ...(panel.kind === 'table' ? { transformations: transformations(panel) } : {}),
  }
}

const steps = (thresholds: readonly Threshold[]): JsonObject => ({
  mode: 'absolute',
  steps: thresholds.map(({ from, color }) => ({ value: from, color })),
})

const PLAIN: readonly Threshold[] = [{ from: null, color: 'green' }]

function defaults(panel: Panel): JsonObject {
  const { unit = 'short', decimals, min, max, thresholds } = panel
  return {
    unit,
    ...(decimals === undefined ? {} : { decimals }),
    ...(min === undefined ? {} : { min }),
    ...(max === undefined ? {} : { max }),
    ...(panel.kind === 'stat' && panel.empty !== undefined ? { noValue: panel.empty } : {}),
    color: { mode: panel.kind === 'graph' ? 'palette-classic' : 'thresholds' },
    thresholds: steps(thresholds ?? PLAIN),
    custom: custom(panel),
  }
}

function custom(panel: Panel): JsonObject {
  if (panel.kind === 'table') return { align: 'auto', cellOptions: { type: 'auto' }, filterable: true }
  if (panel.kind !== 'graph') return {}
  const { stack = false, bars = false, axis, thresholds } = panel
  return {
    drawStyle: bars ? 'bars' : 'line',
    lineWidth: bars ? 0 : 1,
    fillOpacity: bars ? 80 : stack ? 40 : 8,
    stacking: { mode: stack ? 'normal' : 'none', group: 'A' },
    showPoints: 'never',
    spanNulls: false,
    ...(axis === undefined ? {} : { axisLabel: axis }),
    ...(thresholds === undefined ? {} : { thresholdsStyle: { mode: 'dashed' } }),
  }
}

function overrides(panel: Panel): readonly JsonObject[] {
  const colours = Object.entries(panel.colors ?? {}).map(([name, fixedColor]) =>
    override(name, [{ id: 'color', value: { mode: 'fixed', fixedColor } }]),
  )
  if (panel.kind !== 'table') return colours
  const columns = Object.entries(panel.columns ?? {}).map(([name, { unit, decimals, thresholds, link }]) =>
    override(name, [
      ...(unit === undefined ? [] : [{ id: 'unit', value: unit }]),
      ...(decimals === undefined ? [] : [{ id: 'decimals', value: decimals }]),
      ...(thresholds === undefined
        ? []
        : [
            { id: 'thresholds', value: steps(thresholds) },
            { id: 'custom.cellOptions', value: { type: 'color-text' } },
          ]),
      ...(link === undefined ? [] : [{ id: 'links', value: [{ title: 'Open', url: link }] }]),
    ]),
  )
  return [...colours, ...columns]
}

const override = (name: string, properties: readonly JsonObject[]): JsonObject => ({
  matcher: { id: 'byName', options: name },
  properties,
})

function options(panel: Panel): JsonObject {
  const reduceOptions = { calcs: ['lastNotNull'], fields: '', values: false }
  switch (panel.kind) {
    case 'graph':
      return {
        legend: { displayMode: 'table', placement: 'bottom', showLegend: true, calcs: ['lastNotNull', 'max'] },
        tooltip: { mode: 'multi', sort: 'desc' },
      }
    case 'stat':
      return {
        reduceOptions,
        colorMode: 'value',
        graphMode: panel.graph ? 'area' : 'none',
        textMode: panel.show ?? 'auto',
        justifyMode: 'auto',
      }
    case 'gauge':
      return { reduceOptions, showThresholdLabels: false, showThresholdMarkers: true }
    case 'bargauge':
      return { reduceOptions, orientation: 'horizontal', displayMode: 'gradient', showUnfilled: true }
    case 'table':
      return { showHeader: true, cellHeight: 'sm' }
  }
}

/** One row per joined label, one column per query; Grafana calls the values `Value #A` and so on. */
function transformations({ queries, labels, join }: Table): readonly JsonObject[] {
  const renameByName = Object.fromEntries(
    queries.map(({ legend = 'Value' }, index) => [queries.length === 1 ? 'Value' : `Value #${String.fromCharCode(65 + index)}`, legend]),
  )
  const names = [...labels, ...Object.keys(renameByName)]
  const indexByName = Object.fromEntries(names.map((name, index) => [name, index]))
  return [
    ...(join === undefined ? [] : [{ id: 'joinByField', options: { byField: join, mode: 'outer' } }]),
    { id: 'filterFieldsByName', options: { include: { names } } },
    { id: 'organize', options: { indexByName, renameByName, excludeByName: {} } },
  ]
}

/** A variable filled from the values of a label. */
export interface LabelVariable {
  readonly name: string
  readonly label: string
  /** A selector of the metric that carries it. */
  readonly of: string
  readonly many: boolean
}

/** What an annotation marks in every graph: each instant at which the query has a value. */
export interface Mark {
  readonly name: string
  readonly expr: string
  readonly color: string
  readonly title: string
  readonly text: string
}

export interface Dashboard {
  /** Stable, so that links hold. */
  readonly uid: string
  readonly title: string
  readonly description: string
  readonly variables: readonly LabelVariable[]
  readonly marks: readonly Mark[]
  readonly from: string
  readonly rows: readonly Row[]
}

/** The whole file. Links lead to every dashboard with the tag, and keep time and variables. */
export function dashboardJson(dashboard: Dashboard, tag: string): JsonObject {
  const { uid, title, description, from } = dashboard
  return {
    uid,
    title,
    description,
    tags: [tag],
    schemaVersion: 42,
    version: 1,
    editable: true,
    graphTooltip: 1,
    timezone: 'browser',
    refresh: '1m',
    time: { from, to: 'now' },
    timepicker: {},
    fiscalYearStartMonth: 0,
    links: [
      {
        type: 'dashboards',
        title: 'capkeeper',
        tags: [tag],
        asDropdown: false,
        keepTime: true,
        includeVars: true,
        targetBlank: false,
        icon: 'external link',
        tooltip: '',
        url: '',
      },
    ],
    annotations: { list: dashboard.marks.map(markJson) },
    templating: { list: [datasourceVariable(), ...dashboard.variables.map(labelVariable)] },
    panels: layout(dashboard.rows),
  }
}

const markJson = ({ name, expr, color, title, text }: Mark): JsonObject => ({
  name,
  datasource: DATASOURCE,
  enable: true,
  hide: false,
  iconColor: color,
  expr,
  step: '60s',
  titleFormat: title,
  textFormat: text,
  useValueForTime: false,
})

const datasourceVariable = (): JsonObject => ({
  name: 'datasource',
  label: 'Data source',
  type: 'datasource',
  query: 'prometheus',
  current: {},
  hide: 0,
  includeAll: false,
  multi: false,
  options: [],
  refresh: 1,
  regex: '',
  skipUrlSync: false,
})

const labelVariable = ({ name, label, of, many }: LabelVariable): JsonObject => ({
  name,
  label,
  type: 'query',
  datasource: DATASOURCE,
  definition: `label_values(${of}, ${name})`,
  query: { query: `label_values(${of}, ${name})`, refId: name, qryType: 1 },
  current: {},
  hide: 0,
  includeAll: many,
  multi: many,
  options: [],
  refresh: 2,
  regex: '',
  skipUrlSync: false,
  sort: 1,
  ...(many ? { allValue: '.*' } : {}),
})
