// Events of pools: people work up to their caps, and the credits and the members of a pool change within hours of a deal.
import { between, type Draw, pick } from '../../../../src/sandbox/company/company.ts'
import type { Life } from '../life.ts'
import { dismiss, editPools, favour, richestMember, scalePools } from '../pool-edits.ts'
import { MINUTE_MS } from '../scenario.ts'
import { type Acts, later, pause, resume } from './tools.ts'

/** Changes the credits of all pools by this factor. */
function scaled(life: Life, share: number): void {
  scalePools(life.model, share)
  life.published()
}

/** Soon after a deal, before use under the earlier caps has shown. */
const soon = (life: Life, draw: Draw, act: () => void): void => later(life, between(draw, 40, 150) * MINUTE_MS, act)

type Course = (life: Life, draw: Draw) => void

const COURSES: readonly [Course, ...Course[]] = [
  () => undefined,
  // Credits are cut and soon raised again.
  (life, draw) => {
    scaled(life, 0.6)
    soon(life, draw, () => scaled(life, 1.5))
  },
  // The other members have to make room for one, and the next deal comes before it can be known that they have.
  (life, draw) => {
    favour(life.model, draw)
    life.published()
    soon(life, draw, () => scaled(life, 1.02))
  },
  // While no cap is written, credits are raised and cut again: open raises no longer fit.
  (life, draw) => {
    pause(life, 8 * 60 * MINUTE_MS)
    scaled(life, 2)
    soon(life, draw, () => {
      scaled(life, 0.45)
      resume(life)
    })
  },
]

/** The member with the highest cap of a pool uses all of it. */
function workHard(life: Life): string | undefined {
  const richest = richestMember(life)
  if (richest === undefined) return undefined
  life.use(richest, 1_000_000)
  life.company.usedSome()
  return richest
}

/** Events that rarely occur by chance. */
const TURNS: readonly [Course, ...Course[]] = [
  // The member who has used most leaves, and the others are to get more.
  (life, draw) => {
    const richest = workHard(life)
    if (richest === undefined) return
    soon(life, draw, () => {
      dismiss(life.model, richest)
      life.published()
      soon(life, draw, () => scaled(life, 1.02))
    })
  },
  // A member who is not dealt to gets a line with most of the credits.
  (life, draw) => {
    const email = favour(life.model, draw)
    if (email !== undefined) life.model.protectedPeople.add(email)
    life.published()
  },
  // While no cap is written, credits are raised and cut back, and one member works: that member's share is above their cap, and the others
  // still have the credits that they are to give up.
  (life, draw) => {
    pause(life, 8 * 60 * MINUTE_MS)
    workHard(life)
    scaled(life, 2)
    soon(life, draw, () => {
      scaled(life, 0.5)
      resume(life)
    })
  },
]

export const POOLS = {
  // Most people do some work; sometimes a person uses all credits at once.
  work: (life, draw) => {
    for (const email of life.company.approved) {
      const roll = draw()
      if (roll < 0.6) life.use(email, roll < 0.04 ? 1_000_000 : between(draw, 1, roll < 0.2 ? 40_000 : 12_000))
    }
    life.company.usedSome()
  },
  'pool-edit': (life, draw) => {
    editPools(life, draw)
    life.published()
    pick(draw, COURSES)(life, draw)
  },
  'pool-turn': (life, draw) => pick(draw, TURNS)(life, draw),
} satisfies Partial<Acts>
