// Where the daemon learns something it says what holds by now, and the conditions of the workspace follow: what is news becomes events. The
// only place that changes conditions; it finds nothing by itself.
import { advance, type Finding } from '../../core/model/condition.ts'
import { type FindingSource, report, type Workspace } from '../workspace.ts'

/** What was found now, by who looked. What is explained and what explains it must come together. */
export type Found = Readonly<Partial<Record<FindingSource, readonly Finding[]>>>

/** Takes what was found now. */
export function notice(workspace: Workspace, found: Found): void {
  const stood = Object.values(workspace.findings).flat()
  workspace.findings = { ...workspace.findings, ...found }
  const stands = Object.values(workspace.findings).flat()
  // So it is with most looks: nothing was found, nor stood before.
  if (stood.length === stands.length && Object.values(found).every((now) => now.length === 0)) return
  const { conditions, transitions } = advance(workspace.conditions, stands, workspace.clock.now())
  workspace.conditions = conditions
  for (const transition of transitions) report(workspace, { kind: 'condition', ...transition })
}
