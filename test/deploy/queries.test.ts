// Every query of alert rules and dashboards: it parses, and names only what the daemon has. A misspelt metric gives no error anywhere, only an
// alert that never fires and a panel that stays empty.
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parser } from '@prometheus-io/lezer-promql'
import { describe, expect, test } from 'vitest'
import { COUNTERS, GAUGES, HISTOGRAMS } from '../../src/daemon/http/metrics/gauges.ts'
import { dashboardQueries } from '../support/dashboards.ts'
import {
  alertRules,
  allRules,
  DEPLOY,
  hasProgram,
  isAlert,
  queriesInTemplates,
  readDeploy,
  recordedNames,
  runProgram,
} from '../support/rules.ts'
import { temporaryFolder } from '../support/temporary.ts'

interface Named {
  /** Parts that are not PromQL. */
  readonly errors: readonly string[]
  readonly metrics: readonly string[]
  /** Labels of matchers, `by`, `without`, `on`, `ignoring` and `group_left`. */
  readonly labels: readonly string[]
}

function namesIn(query: string): Named {
  const errors: string[] = []
  const metrics: string[] = []
  const labels: string[] = []
  parser.parse(query).iterate({
    enter(node) {
      const text = query.slice(node.from, node.to)
      if (node.type.isError) errors.push(`${query.slice(Math.max(0, node.from - 20), node.from)}▸${query.slice(node.from, node.to + 20)}`)
      else if (node.name === 'LabelName') labels.push(text)
      else if (node.name === 'Identifier' && node.node.parent?.name === 'VectorSelector') metrics.push(text)
    },
  })
  return { errors, metrics, labels }
}

const TABLES = { ...GAUGES, ...COUNTERS, ...HISTOGRAMS }

/** Labels by metric on the metrics page: those of metrics/gauges.ts, with the series of histograms. */
const OUR_METRICS: ReadonlyMap<string, readonly string[]> = new Map<string, readonly string[]>([
  ...Object.entries(TABLES).map(([name, { labels }]) => [name, labels] as const),
  ...Object.entries(HISTOGRAMS).flatMap(([name, { labels }]) => [
    [`${name}_bucket`, [...labels, 'le']] as const,
    [`${name}_sum`, labels] as const,
    [`${name}_count`, labels] as const,
  ]),
])

/** Metrics of Prometheus itself and of every process. */
const isCommon = (name: string): boolean => /^(process|nodejs)_\w+$|^(up|ALERTS)$/.test(name)
const COMMON_LABELS = ['job', 'instance', 'alertname', 'alertstate', 'severity', 'topic']

/** The faults of a query: syntax errors, and metrics and labels that do not exist. `recorded` are names that rules make. */
function offencesIn(query: string, recorded: readonly string[] = []): readonly string[] {
  const { errors, metrics, labels } = namesIn(query)
  const known = new Set([...COMMON_LABELS, ...[...OUR_METRICS.values()].flat()])
  return [
    ...errors.map((piece) => `does not parse at ${piece}`),
    ...metrics.filter((name) => !OUR_METRICS.has(name) && !isCommon(name) && !recorded.includes(name)).map((name) => `there is no ${name}`),
    ...labels.filter((label) => !known.has(label)).map((label) => `no metric has the label ${label}`),
    ...(metrics.length === 0 ? ['it names no metric'] : []),
    ...strayLabels(query),
  ]
}

/** A label matcher on a metric without that label selects nothing, without an error. */
function strayLabels(query: string): readonly string[] {
  const found: string[] = []
  parser.parse(query).iterate({
    enter(node) {
      if (node.name !== 'VectorSelector') return
      const { metrics, labels } = namesIn(query.slice(node.from, node.to))
      const has = OUR_METRICS.get(metrics[0] ?? '')
      if (has)
        found.push(
          ...labels
            .filter((label) => !has.includes(label) && !COMMON_LABELS.includes(label))
            .map((label) => `${metrics[0]} has no label ${label}`),
        )
    },
  })
  return found
}

const dashboards = readdirSync(join(DEPLOY, 'grafana')).filter((name) => name.endsWith('.json'))

describe('a query', () => {
  test.each([
    ['does not parse', 'sum(capkeeper_scopes', 'does not parse'],
    ['names a metric that is not there', 'capkeeper_scope > 0', 'there is no capkeeper_scope'],
    ['names a label that no metric has', 'sum by (team) (capkeeper_scopes)', 'no metric has the label team'],
    ['matches a label of another metric', 'capkeeper_scopes{guard="breaker"}', 'capkeeper_scopes has no label guard'],
    ['names no metric at all', 'time() > 5', 'it names no metric'],
  ])('is refused when it %s', (_row, query, offence) => {
    expect(offencesIn(query).join()).toContain(offence)
  })

  test('is taken with what Prometheus and every process have, and the parts of histograms', () => {
    const query =
      'sum by (le) (rate(capkeeper_api_request_duration_seconds_bucket{operation="x"}[5m])) and on (job) up{job="a"} + process_cpu_seconds_total'
    expect(offencesIn(query)).toEqual([])
  })
})

describe('the alert rules', () => {
  test.each(allRules().map((rule) => [isAlert(rule) ? `${rule.alert} (${rule.labels['severity']})` : rule.record, rule] as const))(
    'of %s name only what there is',
    (_name, rule) => {
      expect(offencesIn(rule.expr, recordedNames())).toEqual([])
    },
  )

  test.each(alertRules().map((rule) => [`${rule.alert} (${rule.labels['severity']})`, rule] as const))(
    'look up in the texts of %s only what there is',
    (_name, { annotations }) => {
      const queries = Object.values(annotations).flatMap(queriesInTemplates)
      expect(queries.flatMap((query) => offencesIn(query, recordedNames()))).toEqual([])
    },
  )
})

describe.each(dashboards)('the dashboard %s', (name) => {
  const queries = dashboardQueries(readDeploy(`grafana/${name}`))

  test('has queries that parse and name only what there is', () => {
    expect(queries.length).toBeGreaterThan(10)
    expect(queries.flatMap((query) => offencesIn(query).map((offence) => `${query}: ${offence}`))).toEqual([])
  })

  test.skipIf(!hasProgram('promtool'))('has queries whose types promtool finds right too (needs promtool)', () => {
    const file = join(temporaryFolder(), 'rules.yaml')
    const rules = queries.map((expr, index) => ({ record: `a:b:${index}`, expr }))
    writeFileSync(file, JSON.stringify({ groups: [{ name: 'all', rules }] }))
    const { status, said } = runProgram('promtool', ['check', 'rules', file])
    expect(said).toContain('SUCCESS')
    expect(status).toBe(0)
  })
})

test('every metric of the daemon is on a dashboard', () => {
  const shown = new Set(
    dashboards.flatMap((name) => dashboardQueries(readDeploy(`grafana/${name}`))).flatMap((query) => namesIn(query).metrics),
  )
  const parts = /_(bucket|sum|count)$/
  const isShown = (metric: string): boolean => shown.has(metric) || shown.has(`${metric}_bucket`)
  expect([...OUR_METRICS.keys()].filter((metric) => !parts.test(metric) && !isShown(metric))).toEqual([])
})
