// Metrics of a workspace or two on a clock that does not move, and a scrape of them.
import type { CycleEvent, WorkspaceView } from '../../src/core/model/events.ts'
import { createMetrics, type MetricsOptions } from '../../src/daemon/http/metrics/metrics.ts'
import { fakeClock } from './clock.ts'
import { parseExposition } from './exposition.ts'
import { NOW } from './views.ts'

export const HEALTHY = { configValid: true, ledgerWritable: true }

export function start(options: Partial<MetricsOptions> = {}, workspaces: readonly string[] = ['acme']) {
  const clock = fakeClock()
  const metrics = createMetrics({ version: '0.1.0', revision: 'abc', clock, ...options })
  for (const workspace of workspaces) metrics.registerWorkspace(workspace)
  const scrape = async (...views: readonly WorkspaceView[]) => parseExposition(await metrics.render(views, HEALTHY))
  return { clock, metrics, scrape }
}

type Bare<T> = T extends unknown ? Omit<T, 'workspace' | 'at'> : never

export const event = (body: Bare<CycleEvent>, workspace = 'acme'): CycleEvent => ({ workspace, at: NOW, ...body }) as CycleEvent
