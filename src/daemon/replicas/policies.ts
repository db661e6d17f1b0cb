// How replicas tell one policy set from another, and which one a workspace follows when none of it could be loaded. Nothing here decides which set
// is the newer one.
import { orNothing } from '../ledger/error.ts'
import type { Workspace } from '../workspace.ts'

interface Known {
  readonly digest: string
  readonly revision: string
}

/** Of the set and its revision, so that policies that come back with a new commit come last; what they say is in its first word. */
export const policyId = ({ digest, revision }: Known): string => `${digest} ${revision}`

/** Both say the same, whatever commit each replica has them from. */
export const saySame = (one: string | undefined, other: string | undefined): boolean => one?.split(' ', 1)[0] === other?.split(' ', 1)[0]

/** In force while files are broken: what was given last, and before that what the ledger has kept. */
export const lastGood = ({ shown, ledger }: Workspace): Known | undefined => shown.policy ?? orNothing(() => ledger.fact('policy'))

export function lastGoodId(workspace: Workspace | undefined): string | undefined {
  const known = workspace && lastGood(workspace)
  // A workspace that never had policies shows none.
  return known && known.digest !== '' ? policyId(known) : undefined
}
