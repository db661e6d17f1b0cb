// Forgets people in the memory of this process once `ledger forget` has marked them in another one. It is the first step of a cycle, because
// whatever the memory still holds would be recorded again.
import { scopeKey, userScope } from '../../core/model/scope.ts'
import { marked, withoutPerson } from '../ledger/forget.ts'
import { FACT_NAMES } from '../ledger/values/values.ts'
import type { Workspace } from '../workspace.ts'
import type { WorkspaceState } from './state.ts'

/** True when it forgot a person: then the roster must be read again. Rejects with a `LedgerError`; then the next cycle does it. */
export async function forgetMarked(workspace: Workspace, state: WorkspaceState): Promise<boolean> {
  const { ledger, client, chronicle } = workspace
  const marks = ledger.fact('forgotten') ?? []
  if (marks.length === 0) return false
  const known = marked(marks, [remembered(state), chronicle?.journal(), ...FACT_NAMES.map((name) => ledger.fact(name))])
  // A person who was given a cap since has records again that are needed.
  const ours = new Set([...ledger.owned(), ...ledger.openIntents().map(({ change }) => change)].map(({ scope }) => scopeKey(scope)))
  const emails = known.filter((email) => !ours.has(scopeKey(userScope(email))))
  for (const email of emails) {
    Object.assign(state, withoutPerson(remembered(state), email))
    client.forget?.(email)
    chronicle?.forget(email)
  }
  workspace.before = undefined
  for (const email of emails) await ledger.forget(email)
  const newer = (ledger.fact('forgotten') ?? []).filter(({ hash }) => !marks.some((mark) => mark.hash === hash))
  ledger.saveFact('forgotten', newer.length === 0 ? undefined : newer)
  await ledger.commit()
  return emails.length > 0
}

/** The parts of the state that name people, as plain data. */
const remembered = ({ usage, measured, conflictsGone, conflictGroups, conditions, pools }: WorkspaceState) => {
  return { usage, measured, conflictsGone, conflictGroups, conditions, pools }
}
