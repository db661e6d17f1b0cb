// Brings the conditions of a workspace up to date with new findings; what has changed becomes events. It is the only place that changes
// conditions, and it finds nothing itself.
import { advance, type Finding } from '../../core/model/condition.ts'
import { type FindingSource, report, type Workspace } from '../workspace.ts'

/** New findings by source. A finding and the one that explains it must come together. */
export type Found = Readonly<Partial<Record<FindingSource, readonly Finding[]>>>

/** Replaces the findings of these sources. */
export function notice(workspace: Workspace, found: Found): void {
  const before = countOf(workspace.findings)
  workspace.findings = { ...workspace.findings, ...found }
  // The usual case, kept cheap: these sources have found nothing, now or before.
  if (countOf(found) === 0 && countOf(workspace.findings) === before) return
  const { conditions, transitions } = advance(workspace.conditions, Object.values(workspace.findings).flat(), workspace.clock.now())
  workspace.conditions = conditions
  for (const transition of transitions) report(workspace, { kind: 'condition', ...transition })
}

const countOf = (found: Found): number => Object.values(found).reduce((sum, { length }) => sum + length, 0)
