// Every query of alert rules and dashboards: it parses, and names only what the daemon has. A misspelt metric gives no error anywhere, only an
// alert that never fires and a panel that stays empty.
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { dashboardQueries } from '../support/dashboards.ts'
import { namesIn, OUR_METRICS, offencesIn } from '../support/promql.ts'
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
