// What makes a dashboard usable after import: stable ids, no leftovers of an export, everything on the chosen data source and explained.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { generatedFiles } from '../../deploy/generate.ts'
import { BAND_COLORS, BAND_THRESHOLDS } from '../../deploy/source/parts.ts'
import { allPanels, type DashboardFile, type PanelFile } from '../support/dashboards.ts'
import { DEPLOY, readDeploy } from '../support/rules.ts'

const files = readdirSync(join(DEPLOY, 'grafana')).filter((name) => name.endsWith('.json'))
const read = (name: string): DashboardFile => JSON.parse(readDeploy(`grafana/${name}`))

test.each([...generatedFiles()])('%s is up to date (npm run deploy:generate)', (path, text) => {
  expect(readDeploy(path)).toBe(text)
})

test('there are three dashboards, each of its own', () => {
  const uids = files.map((name) => read(name).uid)
  expect(uids.toSorted()).toEqual(['capkeeper-drift', 'capkeeper-overview', 'capkeeper-workspace'])
  expect(files.map((name) => name.replace('.json', '')).toSorted()).toEqual(uids.toSorted())
})

test('thresholds are those of the bands', () => {
  const bounds = Object.keys(BAND_COLORS).flatMap((band) => band.match(/\d+/g) ?? [])
  expect(new Set(BAND_THRESHOLDS.flatMap(({ from }) => from ?? []))).toEqual(new Set(bounds.map(Number)))
})

describe.each(files)('%s', (name) => {
  const dashboard = read(name)
  const panels = allPanels(dashboard)
  const shown = panels.filter((panel) => panel.type !== 'row')

  test('is in the last version of its format, without what an export leaves behind', () => {
    expect(dashboard.schemaVersion).toBe(42)
    expect(Object.keys(dashboard)).not.toEqual(expect.arrayContaining(['__inputs']))
    expect(dashboard).not.toHaveProperty('id')
    expect(readDeploy(`grafana/${name}`)).not.toMatch(/__inputs|__requires|DS_PROMETHEUS|iteration/)
  })

  test('lets people choose data source and workspace, and asks only the chosen ones', () => {
    expect(dashboard.templating.list.map((variable) => variable.name)).toEqual(expect.arrayContaining(['datasource', 'workspace']))
    const sources = shown.flatMap((panel) => [panel.datasource?.uid, ...(panel.targets ?? []).map((target) => target.datasource.uid)])
    expect(new Set(sources)).toEqual(new Set([`\${datasource}`]))
  })

  test('explains every panel, gives it a unit and a query', () => {
    expect(shown.filter((panel) => !panel.description || !panel.fieldConfig?.defaults.unit || !panel.targets?.length)).toEqual([])
    expect(new Set(shown.map((panel) => panel.title)).size).toBe(shown.length)
  })

  test('has panels with ids of their own that lie beside each other', () => {
    expect(new Set(panels.map((panel) => panel.id)).size).toBe(panels.length)
    expect(panels.filter(({ gridPos }) => gridPos.x + gridPos.w > 24)).toEqual([])
    const overlaps = dashboard.panels.flatMap((one, index) => dashboard.panels.slice(index + 1).filter((other) => overlap(one, other)))
    expect(overlaps).toEqual([])
  })

  test('leads to the other dashboards with time and workspace kept, and marks what changed', () => {
    expect(dashboard.links).toEqual([expect.objectContaining({ tags: dashboard.tags, includeVars: true, keepTime: true })])
    expect(dashboard.annotations.list.map((mark) => mark.name)).toEqual(['Caps written', 'Changed outside', 'Policy changed'])
  })
})

function overlap({ gridPos: a }: PanelFile, { gridPos: b }: PanelFile): boolean {
  return a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h
}
