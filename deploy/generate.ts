// Writes the files of deploy/ that are made from others: the PrometheusRule manifest from the rule file, the dashboards from deploy/source, and
// the copies of both that the Helm chart carries, because a chart reads no file outside its own folder.
// `npm run deploy:generate`; a test fails while one of them is not up to date.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DRIFT } from './source/drift.ts'
import { prometheusRule } from './source/manifest.ts'
import { OVERVIEW } from './source/overview.ts'
import { dashboardJson } from './source/panels.ts'
import { WORKSPACE } from './source/workspace.ts'

const TAG = 'capkeeper'
const CHART_FILES = 'helm/capkeeper/files'

/** Path below deploy/ and text of every generated file. */
export function generatedFiles(): ReadonlyMap<string, string> {
  const rules = readFileSync(join(import.meta.dirname, 'prometheus/capkeeper.rules.yaml'), 'utf8')
  const dashboards = [OVERVIEW, WORKSPACE, DRIFT].map(
    (dashboard) => [`${dashboard.uid}.json`, `${JSON.stringify(dashboardJson(dashboard, TAG), undefined, 2)}\n`] as const,
  )
  return new Map([
    ['kubernetes/base/prometheusrule.yaml', prometheusRule(rules)],
    [`${CHART_FILES}/capkeeper.rules.yaml`, rules],
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
