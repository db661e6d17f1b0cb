// Past use on a sandbox: days on which people used agents, written as facts.
import { email, NOW } from './declare.ts'
import type { World } from './world.ts'

const MODE = 'CONVERSATIONAL_PLANNER_MODE_DEFAULT'

export interface PastUse {
  readonly who: string
  readonly at: number
  readonly credits: number
  readonly model?: string
  readonly mode?: string
}

/** Noon of a day of November 2026, or of another month. */
export const noon = (day: number, month = 11): number => Date.UTC(2026, month - 1, day, 12)

export const midnight = (day: number, month = 11): number => Date.UTC(2026, month - 1, day)

/** Writes use at its time; days after `NOW` count once they have come. */
export function recordPast({ sandbox }: World, uses: readonly PastUse[]): void {
  const { store } = sandbox
  store.transaction(() => {
    uses.forEach(({ who, at, credits, model = 'Large', mode = MODE }, index) => {
      const person = store.person(email(who))
      if (!person) throw new Error(`no person is called ${who}`)
      const effects = { messages: 1, linesSuggested: 0, linesAccepted: 0, tools: {} }
      const cents = Math.round(credits * 100)
      store.addUse({ source: 'agent', person: person.id, at, conversation: index, ide: 'editor', model, mode, cents, ...effects })
    })
  })
  sandbox.reload()
}

/** The same use at noon of every day from `fromAt` to before `untilAt`. */
export function daily(who: string, credits: number, fromAt: number, untilAt = NOW): readonly PastUse[] {
  const uses: PastUse[] = []
  for (let at = fromAt; at < untilAt; at += 86_400_000) uses.push({ who, at, credits })
  return uses
}
