// Common parts of the made-up documents for pages: an instant, a place, a hold.

const AT = '2026-11-20T12:00:00.000Z'
export const DAY = 86_400_000
export const HEAD = { apiVersion: 'capkeeper/v1', at: AT, peopleShown: 'email' } as const
export const headOf = <const K extends string>(kind: K, workspace = 'acme') => ({ ...HEAD, kind, workspace })

export const ago = (ms: number): string => new Date(Date.parse(AT) - ms).toISOString()
export const dayOf = (index: number): string => new Date(Date.UTC(2026, 10, 1) + index * DAY).toISOString().slice(0, 10)

export const BANDS = { uncapped: 2, under_50: 130, '50_to_85': 40, '85_to_95': 15, '95_to_100': 8, at_cap: 5 } as const
export const SCOPES = { in_sync: 14, drifted: 1, held: 2, unknown: 1, rejected: 0, contested: 0, skipped: 1, undeclared: 0 } as const
export const place = (line: number) => ({
  file: 'policies/acme.yaml',
  line,
  column: 10,
  url: `https://git.example.com/caps/policies/acme.yaml#L${line}`,
})
export const HOLD_ID = '7d1f0c2a9b34e8c15a6b7c8d9e0f1a2b'
export const PLAN_ID = '42bc86716855f9f4'
export const HOLD_MESSAGE =
  'acme: 41 of 120 people would be lowered (34 %), the limit is 15 %; approve hold 7d1f0c2a9b34e8c15a6b7c8d9e0f1a2b or raise guards.maxLowered'

/** The pages of the workspace acme, and the overview. */
export const PAGE_PATHS = [
  '/',
  '/workspaces/acme',
  '/workspaces/acme/lead',
  '/workspaces/acme/groups',
  '/workspaces/acme/groups/grp_platform',
  '/workspaces/acme/people',
  '/workspaces/acme/people/ada@example.com',
  '/workspaces/acme/changes',
  `/workspaces/acme/plans/${PLAN_ID}`,
  '/workspaces/acme/holds',
  `/workspaces/acme/holds/${HOLD_ID}`,
  '/workspaces/acme/policies',
  '/workspaces/acme/simulate',
  '/workspaces/acme/health',
]
