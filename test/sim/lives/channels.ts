// Messages of some lives: who is told what, and channels that fail, hang and answer late.
import { EVENTS, type NotifySettings, type Target } from '../../../src/core/notify/settings.ts'
import type { Delivery } from '../../../src/core/notify/told.ts'
import type { Draw } from '../../../src/sandbox/company/company.ts'
import { NOTIFY } from '../../support/notify.ts'

/** How a channel treats messages; one that is `good` takes them. */
export const CHANNEL_STATES = ['refused', 'refused', 'alone', 'rejected', 'unknown', 'hangs', 'slow'] as const
export type ChannelState = (typeof CHANNEL_STATES)[number] | 'good'

/** Groups that may have a lead; the first has one from the start. */
export const LED = ['g0', 'g1'] as const
export const CHANNELS = ['mail', 'chat', 'all'] as const

export const drawNotify = (draw: Draw): NotifySettings => ({
  ...{ ...NOTIFY, events: EVENTS, channels: ['all'] },
  people: draw() < 0.5 ? NOTIFY.people : [20, 60, 85, 100],
  digest: draw() < 0.7 ? 'daily' : 'off',
  ...(draw() < 0.3 && { quietHours: draw() < 0.5 ? { fromMinute: 1140, untilMinute: 480 } : { fromMinute: 0, untilMinute: 360 } }),
})

export const ledBy = (settings: NotifySettings, led: ReadonlySet<string>): NotifySettings => {
  const targetsOf = (id: string): readonly Target[] => [
    { kind: 'email', address: `lead-${id}@lead.example` },
    { kind: 'webhook', name: 'chat' },
  ]
  return { ...settings, owners: [...led].map((id) => ({ of: { kind: 'group', id }, targets: targetsOf(id) })) }
}

/** The answer of a channel, after the time that it takes. */
export async function answerOf(state: ChannelState, sleep: (ms: number) => Promise<void>, signal: AbortSignal): Promise<Delivery> {
  const cut = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
  if (state === 'hangs' || state === 'slow') await Promise.race([sleep(state === 'slow' ? 20_000 : 150_000), cut])
  const reason = 'the simulation says so'
  if (signal.aborted || state === 'hangs' || state === 'unknown') return { kind: 'unknown', reason }
  if (state === 'alone') return { kind: 'refused', reason, alone: true }
  return state === 'refused' || state === 'rejected' ? { kind: state, reason } : { kind: 'sent' }
}
