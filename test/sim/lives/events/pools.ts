// What happens to pools: people work up to their caps, and what a pool has, and whom it serves, changes within hours of a deal.
import { between, type Draw, pick } from '../../../../src/sandbox/company/random.ts'
import type { Life } from '../life.ts'
import { copyModel } from '../policy-model.ts'
import { dismiss, editPools, favour, richestMember, scalePools } from '../pool-edits.ts'
import { MINUTE_MS } from '../scenario.ts'
import { type Acts, later, pause, publish, resume } from './tools.ts'

/** Policies say that the pools have so much of what they had. */
function scaled(life: Life, share: number): void {
  life.model = copyModel(life.model)
  scalePools(life.model, share)
  publish(life)
}

/** Soon after a deal, before what was used under the caps of before has shown. */
const soon = (life: Life, draw: Draw, act: () => void): void => later(life, between(draw, 40, 150) * MINUTE_MS, act)

type Course = (life: Life, draw: Draw) => void

const COURSES: readonly [Course, ...Course[]] = [
  () => undefined,
  // Credits go down and soon up again.
  (life, draw) => {
    scaled(life, 0.6)
    soon(life, draw, () => scaled(life, 1.5))
  },
  // The others have to make room for one of them, and before that can be known there is another deal.
  (life, draw) => {
    life.model = copyModel(life.model)
    favour(life.model, draw)
    publish(life)
    soon(life, draw, () => scaled(life, 1.02))
  },
  // While nothing is written, credits go up, and down again: raises that are open then do not fit any more.
  (life, draw) => {
    pause(life, 8 * 60 * MINUTE_MS)
    scaled(life, 2)
    soon(life, draw, () => {
      scaled(life, 0.45)
      resume(life)
    })
  },
]

/** Whoever has most of a pool uses all of it. */
function workHard(life: Life): string | undefined {
  const richest = richestMember(life)
  if (richest === undefined) return undefined
  life.use(richest, 1_000_000)
  life.company.usedSome()
  return richest
}

/** What seldom comes about by chance. */
const TURNS: readonly [Course, ...Course[]] = [
  // Whoever has used most leaves, and then the others are to get more.
  (life, draw) => {
    const richest = workHard(life)
    if (richest === undefined) return
    soon(life, draw, () => {
      life.model = copyModel(life.model)
      dismiss(life.model, richest)
      publish(life)
      soon(life, draw, () => scaled(life, 1.02))
    })
  },
  // A member who is not dealt to gets a line with most of the credits.
  (life, draw) => {
    life.model = copyModel(life.model)
    const email = favour(life.model, draw)
    if (email !== undefined) life.model.protectedPeople.add(email)
    publish(life)
  },
  // While nothing is written, credits go up, and back to where they were, and one of the members works: that member's share is more than
  // they have, and the others still have what they are to give.
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

export const POOLS: Acts<'work' | 'pool-edit' | 'pool-turn'> = {
  // Most people do something; now and then somebody uses all there is in one go.
  work: (life, draw) => {
    for (const email of life.company.approved) {
      const roll = draw()
      if (roll < 0.6) life.use(email, roll < 0.04 ? 1_000_000 : between(draw, 1, roll < 0.2 ? 40_000 : 12_000))
    }
    life.company.usedSome()
  },
  'pool-edit': (life, draw) => {
    life.model = copyModel(life.model)
    editPools(life, draw)
    publish(life)
    pick(draw, COURSES)(life, draw)
  },
  'pool-turn': (life, draw) => pick(draw, TURNS)(life, draw),
}
