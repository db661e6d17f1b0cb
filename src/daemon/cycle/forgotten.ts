// Whoever was forgotten beside this process (`ledger forget`) is forgotten in its memory, too: what it remembers is what it records next. It comes
// before anything else of a cycle, so that nothing is recorded in between from what was remembered.
import { marked, withoutPerson } from '../ledger/forget.ts'
import { FACT_NAMES } from '../ledger/values/values.ts'
import type { Workspace } from '../workspace.ts'
import type { WorkspaceState } from './state.ts'

/** Rejects with a `LedgerError`; then the next cycle does it. */
export async function forgetMarked(workspace: Workspace, knowledge: WorkspaceState): Promise<void> {
  const { ledger, client, chronicle } = workspace
  const marks = ledger.fact('forgotten') ?? []
  if (marks.length === 0) return
  const emails = marked(marks, [remembered(knowledge), chronicle?.journal(), ...FACT_NAMES.map((name) => ledger.fact(name))])
  for (const email of emails) {
    Object.assign(knowledge, withoutPerson(remembered(knowledge), email))
    client.forget?.(email)
    chronicle?.forget(email)
  }
  workspace.before = undefined
  workspace.burned = undefined
  for (const email of emails) await ledger.forget(email)
  const left = (ledger.fact('forgotten') ?? []).filter(({ salt }) => !marks.some((mark) => mark.salt === salt))
  ledger.saveFact('forgotten', left.length === 0 ? undefined : left)
  await ledger.commit()
}

/** What a workspace knows of people, as plain data. */
const remembered = ({ usage, measured, conflictsGone, conflictGroups, conditions, pools }: WorkspaceState) => ({
  ...{ usage, measured, conflictsGone, conflictGroups, conditions, pools },
})
