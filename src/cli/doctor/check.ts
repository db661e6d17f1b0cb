// One check of `doctor`: what was looked at, what was found, and the way out. Plain data; collected, and shown as it comes.
import type { Problem } from '../../core/model/problem.ts'

export const CHECK_STATUSES = ['ok', 'warning', 'failed', 'not_checked'] as const
export type CheckStatus = (typeof CHECK_STATUSES)[number]

export type Area = 'program' | 'config' | 'policies' | 'ledger' | 'files' | 'service' | 'keys' | 'plan' | 'deployment' | 'records'

/** What a check found, in one line, and what to do about it. */
export interface Finding {
  readonly status: CheckStatus
  readonly message: string
  readonly hint?: string
  /** Problems with their places, for configuration and policies. */
  readonly problems?: readonly Problem[]
}

export interface Check extends Finding {
  readonly area: Area
  /** What was looked at, such as `integrity`. */
  readonly name: string
  /** Absent for what all workspaces share. */
  readonly workspace?: string
}

/** Takes checks as they are made. */
export type Tell = (name: string, finding: Finding) => void

const finding =
  (status: CheckStatus) =>
  (message: string, hint?: string): Finding => ({ status, message, ...(hint !== undefined && { hint }) })

export const ok = finding('ok')
export const warning = finding('warning')
export const failed = finding('failed')
export const notChecked = finding('not_checked')
