// Shares between replicas, beside leases, the policies of each and the views of their workspaces. It does not decide who holds a workspace.
import type { HeldWorkspace } from '../../core/replicas/lease.ts'
import { inForce, type State } from './leases.ts'
import { saySame } from './policies.ts'

/** Old policies count again when every live replica has had them for so long (docs/replicas.md). */
export const READOPT_MS = 600_000
export const READOPT_EVERY_MS = 20_000
export const SHOW_EVERY_MS = 9_000
/** Views in one write: making them ready blocks this process. */
const SHOWN_AT_ONCE = 20
const READ_SHOWN_EVERY_MS = 2_000

/** Tells the other replicas which policies this one has. */
export async function report(state: State): Promise<void> {
  const { policies, table, replica, latest, clock } = state
  const known = await table.followed(replica.id, policies)
  for (const [workspace, policy] of known) latest.set(workspace, policy)
  state.told = policies
  state.toldAt = clock.monotonic()
}

export async function readopt(state: State): Promise<void> {
  const { table, latest, held } = state
  let news = false
  for (const workspace of held.keys()) {
    const policy = inForce(state, workspace)
    if (policy === undefined || saySame(latest.get(workspace), policy)) continue
    if (!(await table.readopt(workspace, policy, READOPT_MS))) continue
    latest.set(workspace, policy)
    news = true
  }
  if (news) state.hooks?.policiesSettled()
}

export async function show({ held, hooks, table, replica, saved }: State): Promise<void> {
  const news: (HeldWorkspace & { readonly document: string })[] = []
  const save = async (): Promise<void> => {
    if (news.length === 0) return
    const shown = news.splice(0)
    await table.saveShown(replica.id, shown)
    for (const { workspace, document } of shown) saved.set(workspace, document)
  }
  for (const [workspace, { token }] of held) {
    const document = hooks?.document(workspace)
    if (document === undefined || saved.get(workspace) === document) continue
    news.push({ workspace, token, document })
    if (news.length >= SHOWN_AT_ONCE) await save()
  }
  await save()
}

export async function shownElsewhere(state: State): Promise<ReadonlyMap<string, string>> {
  const { clock, due, table, shown } = state
  if (clock.monotonic() >= due.readShown) {
    due.readShown = clock.monotonic() + READ_SHOWN_EVERY_MS
    const news = await table.shownSince(state.shownMark).catch(() => undefined)
    if (news) {
      state.shownMark = news.mark
      for (const [workspace, document] of news.documents) shown.set(workspace, document)
    }
  }
  return shown
}
