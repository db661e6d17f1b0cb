// Messages to people and owners, for tests: settings, what is due at noon of a day late in the cycle, and what is remembered of it.
import type { Told } from '../../src/core/model/facts.ts'
import { type Due, type DueInputs, messagesDue } from '../../src/core/notify/due.ts'
import { DEFAULT_TEMPLATES, type NotifySettings } from '../../src/core/notify/settings.ts'
import { type Delivery, markEnded, markSending, settled } from '../../src/core/notify/told.ts'
import { CYCLE } from './declare.ts'

export const NOON = Date.parse('2026-11-22T12:00Z')

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

/** What is remembered once all messages that were due had this outcome. */
export function afterwards({ told, messages }: Due, kind: Delivery['kind'] = 'sent', now = NOON, before?: Told): Told {
  const sending = markSending(told ?? before ?? { cycleStartAt: 0, entries: {} }, messages, now)
  return markEnded(sending, new Map(messages.map(({ key }) => [key, kind === 'sent' ? { kind } : { kind, reason: 'why' }])), now)
}

/** The same where the process ended before any answer. */
export const cutOff = ({ told, messages }: Due, now: number): Told => markSending(told ?? { cycleStartAt: 0, entries: {} }, messages, now)

/** What a run begins with, as the daemon does: the last one may have been cut off. */
export const begun: typeof settled = settled
