// Brings the conditions of a workspace up to date with new findings; what has changed becomes events. It is the only place that changes
// conditions, and it finds nothing itself.
import { advance, type Finding } from '../../core/model/condition.ts'
import { type FindingSource, report, type Workspace } from '../workspace.ts'

/** New findings by source. A finding and the one that explains it must come together. */
export type Found = Readonly<Partial<Record<FindingSource, readonly Finding[]>>>

/** Replaces the findings of these sources. */
export function notice(workspace: Workspace, found: Found): void {
  const before = Object.values(workspace.findings).flat()
  workspace.findings = { ...workspace.findings, ...found }
  const after = Object.values(workspace.findings).flat()
  // The usual case, kept cheap: these sources have found nothing, now or before.
  if (before.length === after.length && Object.values(found).every((now) => now.length === 0)) return
  const { conditions, transitions } = advance(workspace.conditions, after, workspace.clock.now())
  workspace.conditions = conditions
  for (const transition of transitions) report(workspace, { kind: 'condition', ...transition })
}
