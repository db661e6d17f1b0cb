// Compares the policy sets of replicas, and finds the last known good one of a workspace. It does not decide which set is newer.
import { orNothing } from '../ledger/error.ts'
import type { Workspace } from '../workspace.ts'

interface Known {
  readonly digest: string
  readonly revision: string
}

/** Digest and revision: old policies that come back with a new commit are a new set. */
export const policyId = ({ digest, revision }: Known): string => `${digest} ${revision}`

/** Whether two sets are equal, whatever their commits. */
export const saySame = (one: string | undefined, other: string | undefined): boolean => one?.split(' ', 1)[0] === other?.split(' ', 1)[0]

/** The policies in force while files are broken: the last loaded ones, else those in the ledger. */
export const lastGood = ({ shown, ledger }: Workspace): Known | undefined => shown.policy ?? orNothing(() => ledger.fact('policy'))

export function lastGoodId(workspace: Workspace | undefined): string | undefined {
  const known = workspace && lastGood(workspace)
  // '' when the workspace never had policies.
  return known && known.digest !== '' ? policyId(known) : undefined
}
