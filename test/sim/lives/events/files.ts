// Events of the people file, of messages, and of people who are to be forgotten.
import { scopeKey, userScope } from '../../../../src/core/model/scope.ts'
import type { Ledger } from '../../../../src/ports.ts'
import { between, pick } from '../../../../src/sandbox/company/company.ts'
import { CHANNEL_STATES, CHANNELS, LED } from '../channels.ts'
import { MINUTE_MS, oneOf } from '../scenario.ts'
import { doomed } from './processes.ts'
import { type Acts, later, stir } from './tools.ts'

/** Whom the command refuses to forget. */
const isOurs = (ledger: Pick<Ledger, 'owned' | 'openIntents'>, email: string): boolean =>
  [...ledger.owned().filter(({ cap }) => cap !== 'none'), ...ledger.openIntents().map(({ change }) => change)].some(
    ({ scope }) => scopeKey(scope) === scopeKey(userScope(email)),
  )

export const FILES = {
  'file-edit': (life, draw) => life.peopleFile?.edit(draw),
  'file-spoilt': (life, draw) => later(life, life.peopleFile?.spoil(draw) ?? 0, () => life.peopleFile?.repair()),
  channel: (life, draw) => {
    const channel = pick(draw, CHANNELS)
    life.channels.set(channel, pick(draw, CHANNEL_STATES))
    if (draw() < 0.7) stir(life, draw)
    later(life, between(draw, 2, 400) * MINUTE_MS, () => void life.channels.delete(channel))
  },
  'kill-at-message': (life, draw) => doomed(life, draw, { kind: 'message', left: between(draw, 1, 4) }),
  lead: (life, draw) => {
    const id = pick(draw, LED)
    if (!life.led.delete(id)) life.led.add(id)
    life.process?.daemon?.configChanged()
  },
  // Somebody without a cap of ours leaves, or has left, and `capkeeper ledger forget` is run.
  forget: (life, draw) => {
    const { people, left } = life.company
    const ledger = life.process?.ledger
    const email = oneOf(
      draw,
      [...people.keys(), ...left].filter((one) => ledger && !isOurs(ledger, one)),
    )
    if (email === undefined) return
    if (people.size > 3 && draw() < 0.8 && people.has(email)) life.company.leave(email)
    const forget = async (notes: Ledger): Promise<void> => {
      if (isOurs(notes, email)) return
      await notes.forget(email)
      life.emit({ kind: 'forgotten', email })
    }
    later(life, between(draw, 1, 200) * MINUTE_MS, () => void life.withNotes(forget))
  },
} satisfies Partial<Acts>
