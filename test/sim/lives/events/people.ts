// People join and leave, change groups and roles, and use credits.
import { between, pick } from '../../../../src/sandbox/company/company.ts'
import { emailOf } from '../../world/company.ts'
import type { Life } from '../life.ts'
import { editModel, squeeze } from '../policy-edits.ts'
import { groupName } from '../policy-model.ts'
import { MINUTE_MS } from '../scenario.ts'
import { type Acts, later, someGroup, someone, stormMs } from './tools.ts'

function back(life: Life, emails: readonly string[]): void {
  for (const email of emails) life.company.change(email, { status: 'APPROVED' })
  life.emit({ kind: 'world', what: 'back' })
}

const STATUSES = ['PENDING', 'REJECTED', 'APPROVED', 'APPROVED'] as const

export const PEOPLE = {
  join: (life, draw) => {
    const email = emailOf(100 + between(draw, 0, 60))
    if (life.company.people.has(email)) return
    life.company.join(email)
    if (draw() < 0.6) life.company.regroup(email, someGroup(life, draw))
  },
  leave: (life, draw) => {
    if (life.company.people.size > 3) life.company.leave(someone(life, draw))
  },
  status: (life, draw) => life.company.change(someone(life, draw), { status: pick(draw, STATUSES) }),
  regroup: (life, draw) => life.company.regroup(someone(life, draw), someGroup(life, draw)),
  'group-gone': (life, draw) => {
    const id = someGroup(life, draw)
    if (!life.company.gone.delete(id)) life.company.gone.add(id)
  },
  // A group that cannot be listed, and in half of the cases cannot be set either, gets a high cap that replaces the own caps of one or two
  // members. A guard would hold this for more members.
  'group-dark': (life, draw) => {
    const { model, company } = life
    const [id = company.found()] = [...company.groups.keys()].filter((one) => !model.groups.has(one))
    company.dark.set(id, draw() < 0.5 ? 'unset' : 'unlisted')
    model.groups.set(id, { name: groupName(id), cap: 4000 })
    const least = typeof model.team === 'number' ? model.team : 0
    const rich = [...model.users].filter(([email, cap]) => typeof cap === 'number' && cap > least && company.people.has(email))
    for (const [email] of rich.slice(0, between(draw, 1, 2))) {
      if (!company.groups.get(id)?.has(email)) company.regroup(email, id)
      model.users.delete(email)
    }
    life.published()
    later(life, between(draw, 30, 400) * MINUTE_MS, () => void company.dark.delete(id))
  },
  exodus: (life, draw) => {
    const share = 0.22 + 0.22 * draw()
    const gone = life.company.approved.filter(() => draw() < share)
    for (const email of gone) life.company.change(email, { status: 'PENDING' })
    life.process?.daemon?.hurry()
    later(life, between(draw, 10, 300) * 1000, () => {
      if (draw() < 0.5) squeeze(life, draw)
      else editModel(life, draw)
      life.published()
    })
    if (draw() < 0.5) later(life, between(draw, 20, 200) * MINUTE_MS, () => back(life, gone))
  },
  // Some people get another role, many of them only for one odd reading. No guard holds what this changes for one or two of them.
  role: (life, draw) => {
    const some = life.company.approved.filter(() => draw() < 0.3).slice(0, draw() < 0.6 ? between(draw, 1, 2) : undefined)
    const flip = (): void => {
      for (const email of some) life.company.change(email, { role: life.company.people.get(email)?.role === 'admin' ? 'member' : 'admin' })
    }
    flip()
    if (draw() < 0.6) life.clock.later(Math.min(between(draw, 3, 25) * MINUTE_MS, stormMs(life)), flip)
  },
  use: (life, draw) => {
    for (let times = between(draw, 1, 8); times > 0; times -= 1) {
      const email = someone(life, draw)
      if (life.company.people.has(email)) life.use(email, between(draw, 1, 90_000))
    }
    life.company.usedSome()
  },
} satisfies Partial<Acts>
