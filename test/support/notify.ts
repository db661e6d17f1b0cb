// Messages to people and owners, for tests: settings, and what is due at noon of a day late in the cycle.
import { type Due, type DueInputs, messagesDue } from '../../src/core/notify/due.ts'
import { DEFAULT_TEMPLATES, type NotifySettings } from '../../src/core/notify/settings.ts'

export const NOON = Date.parse('2026-11-22T12:00Z')
export const CYCLE = { startAt: Date.parse('2026-11-01T00:00Z'), endAt: Date.parse('2026-12-01T00:00Z') }

export const NOTIFY: NotifySettings = {
  people: [85, 100],
  pools: [80],
  owners: [],
  digest: 'off',
  events: [],
  channels: [],
  timezone: 'UTC',
  templates: DEFAULT_TEMPLATES,
}

/** What is due where nobody used anything, but for what is given. */
export const due = (given: Partial<DueInputs> = {}): Due =>
  messagesDue({
    now: NOON,
    workspace: 'acme',
    settings: NOTIFY,
    cycle: CYCLE,
    people: [],
    groups: [],
    pools: [],
    told: undefined,
    label: (email) => email,
    all: (value) => value,
    ...given,
  })
