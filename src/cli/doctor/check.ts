// One check of `doctor`: its subject, its result, and the way out.
import type { Problem } from '../../core/model/problem.ts'

export const CHECK_STATUSES = ['ok', 'warning', 'failed', 'not_checked'] as const
export type CheckStatus = (typeof CHECK_STATUSES)[number]

export type Area = 'program' | 'config' | 'policies' | 'ledger' | 'files' | 'service' | 'keys' | 'plan' | 'deployment' | 'records'

/** The result of a check in one line, and what to do about it. */
export interface Finding {
  readonly status: CheckStatus
  readonly message: string
  readonly hint?: string
  /** Problems with their places, for configuration and policies. */
  readonly problems?: readonly Problem[]
}

export interface Check extends Finding {
  readonly area: Area
  /** The subject, such as `integrity`. */
  readonly name: string
  /** Absent for a check of all workspaces. */
  readonly workspace?: string
}

/** Reports one check. */
export type Tell = (name: string, finding: Finding) => void

const finding =
  (status: CheckStatus) =>
  (message: string, hint?: string): Finding => ({ status, message, ...(hint !== undefined && { hint }) })

export const ok = finding('ok')
export const warning = finding('warning')
export const failed = finding('failed')
export const notChecked = finding('not_checked')
