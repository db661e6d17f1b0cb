// Writes the files that are made from others and lie in git: the PrometheusRule manifest from the rule file, the dashboards from deploy/source, the
// copies of both that the Helm chart carries, because a chart reads no file outside its own folder, the chart's schema and README, and the
// schema beside the example policies.
// `npm run deploy:generate`; a test fails while one of them is not up to date.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { published } from '../src/policy/schema/check.ts'
import { SCHEMA as POLICY } from '../src/policy/schema/schema.generated.ts'
import { chartReadme } from './source/chart-readme.ts'
import { DRIFT } from './source/drift.ts'
import { prometheusRule } from './source/manifest.ts'
import { OVERVIEW } from './source/overview.ts'
import { dashboardJson } from './source/panels.ts'
import { valuesSchema } from './source/values-schema.ts'
import { WORKSPACE } from './source/workspace.ts'

const TAG = 'capkeeper'
const CHART = 'helm/capkeeper'
const CHART_FILES = `${CHART}/files`

/** Path below deploy/ and text of every generated file. */
export function generatedFiles(): ReadonlyMap<string, string> {
  const values = readFileSync(join(import.meta.dirname, CHART, 'values.yaml'), 'utf8')
  const schema = valuesSchema(values)
  const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../package.json'), 'utf8'))
  const rules = readFileSync(join(import.meta.dirname, 'prometheus/capkeeper.rules.yaml'), 'utf8')
  const dashboards = [OVERVIEW, WORKSPACE, DRIFT].map(
    (dashboard) => [`${dashboard.uid}.json`, `${JSON.stringify(dashboardJson(dashboard, TAG), undefined, 2)}\n`] as const,
  )
  return new Map([
    ['../policies/cap-policy.schema.json', `${JSON.stringify(published(POLICY), undefined, 2)}\n`],
    ['kubernetes/base/prometheusrule.yaml', prometheusRule(rules)],
    [`${CHART_FILES}/capkeeper.rules.yaml`, rules],
    [`${CHART}/values.schema.json`, `${JSON.stringify(schema, undefined, 2)}\n`],
    [`${CHART}/README.md`, chartReadme(schema, values, version)],
    ...dashboards.map(([name, text]) => [`grafana/${name}`, text] as const),
    ...dashboards.map(([name, text]) => [`${CHART_FILES}/dashboards/${name}`, text] as const),
  ])
}

if (import.meta.main) {
  for (const [path, text] of generatedFiles()) {
    const file = join(import.meta.dirname, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
  }
}
