// A report with people by e-mail or as hashes, as `people` of the config says, in rows and in texts.
import type { Report } from '../../core/use/report.ts'
import type { PeopleLabels } from '../../daemon/http/status/labels.ts'
import { scopeShown } from '../shared/people.ts'

/** The report with people as `labels` shows them. */
export function reportShown(report: Report, labels: PeopleLabels): Report {
  if (labels.shown === 'email') return report
  const { by, rows, near, changes, notes } = report
  return {
    ...report,
    rows: by === 'user' ? rows.map((one) => ({ ...one, key: labels.label(one.key), name: labels.label(one.name) })) : rows,
    near: near.map((one) => ({ ...one, email: labels.label(one.email) })),
    changes: {
      ...changes,
      latest: changes.latest.map((one) => ({
        ...one,
        scope: scopeShown(one.scope, labels),
        ...(one.reason !== undefined && { reason: labels.text(one.reason) }),
        ...(one.error !== undefined && { error: labels.text(one.error) }),
      })),
    },
    notes: notes.map(labels.text),
  }
}
