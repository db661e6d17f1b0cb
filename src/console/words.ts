// The words of all pages: their addresses, figures and instants in words, and names of ours as a reader reads them. No markup.
import { DAY_MS, span } from '../core/model/units.ts'

/** Absent and empty parameters are left out. */
export const withQuery = (path: string, query: Readonly<Record<string, string | number | undefined>>): string => {
  const parts = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [`${encodeURIComponent(name)}=${encodeURIComponent(value)}`],
  )
  return parts.length === 0 ? path : `${path}?${parts.join('&')}`
}

const part = encodeURIComponent

/** The pages of a workspace, in the order of the navigation. */
export const SECTIONS = ['groups', 'people', 'changes', 'holds', 'policies', 'simulate', 'health'] as const
/** Those that also exist for readers who see only some people. */
export const PART_SECTIONS = ['groups', 'people'] as const
export type Section = (typeof SECTIONS)[number]

/** The addresses of pages. */
export const url = {
  overview: '/',
  workspace: (workspace: string): string => `/workspaces/${part(workspace)}`,
  section: (workspace: string, section: Section): string => `${url.workspace(workspace)}/${section}`,
  group: (workspace: string, id: string): string => `${url.section(workspace, 'groups')}/${part(id)}`,
  hold: (workspace: string, id: string): string => `${url.section(workspace, 'holds')}/${part(id)}`,
  /** The entries of one plan, within a day of one of them. */
  plan(workspace: string, id: string, at: string): string {
    const [since, until] = [new Date(Date.parse(at) - DAY_MS), Date.parse(at) + DAY_MS]
    return withQuery(url.section(workspace, 'changes'), { plan: id, since: since.toISOString(), after: `${until}-0` })
  },
  /** Where a scope is explained: `team`, `group:ID` or a person. */
  scope(workspace: string, scope: string): string {
    if (scope === 'team') return url.workspace(workspace)
    if (scope.startsWith('group:')) return url.group(workspace, scope.slice('group:'.length))
    return `${url.section(workspace, 'people')}/${part(scope)}`
  },
}

const NUMBER = new Intl.NumberFormat('en-US', { maximumFractionDigits: 1 })

export const number = (amount: number): string => NUMBER.format(amount)

const COMPACT = new Intl.NumberFormat('en-US', { notation: 'compact', maximumSignificantDigits: 3 })

/** In full below 10,000, without fractions from 100 on; then with three digits: `12.5`, `9,950`, `12.3K`, `1.25M`. */
export function compact(amount: number): string {
  const size = Math.abs(amount)
  if (size < 100) return number(amount)
  return size < 9_999.5 ? number(Math.round(amount)) : COMPACT.format(amount)
}

/** `0.183` as `18 %`; a positive share is never written as 0 %. */
export const percent = (share: number): string => {
  const whole = Math.round(share * 100)
  return whole === 0 && share > 0 ? 'under 1 %' : `${number(whole)} %`
}

/** "1 scope", "2,000 scopes". */
export const plural = (amount: number, noun: string, many = `${noun}s`): string => `${number(amount)} ${amount === 1 ? noun : many}`

export type Cap = number | 'none' | 'unknown' | undefined

export function capText(cap: Cap): string {
  if (cap === undefined) return 'not declared'
  return typeof cap === 'number' ? number(cap) : cap
}

/** `2026-11-20 12:00 UTC`. */
export const instant = (rfc3339: string): string => `${rfc3339.slice(0, 10)} ${rfc3339.slice(11, 16)} UTC`

/** `20 Nov 2026`, in UTC. */
export const day = (rfc3339: string): string => DAY.format(Date.parse(rfc3339))

const DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' })

const DAY_MONTH = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' })

/** `20 Nov`, in UTC. */
export const dayMonth = (at: number): string => DAY_MONTH.format(at)

/** `4 h ago` or `in 3 d`, in its largest unit. */
export function relative(at: string, now: string): string {
  const ms = Math.round((Date.parse(now) - Date.parse(at)) / 1_000) * 1_000
  return ms >= 0 ? `${span(ms)} ago` : `in ${span(-ms)}`
}

/** `in_sync` as `in sync`. */
export const words = (name: string): string => name.replaceAll('_', ' ')

export const BAND_TEXT = {
  uncapped: 'no cap',
  under_50: 'under 50 %',
  '50_to_85': '50 to 85 %',
  '85_to_95': '85 to 95 %',
  '95_to_100': '95 to 100 %',
  at_cap: 'at the cap',
} as const

/** A hold's message without the ways to release it, which the page of the hold has. */
export const withoutWays = (message: string, workspace: string): string => {
  const [counted = message] = message.split('; approve hold ', 1)
  return counted.startsWith(`${workspace}: `) ? counted.slice(workspace.length + 2) : counted
}
