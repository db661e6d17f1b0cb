// What each kind of event does to a simulated life. Details are drawn from the event's own stream.

import { DEFAULT_GUARDS } from '../../src/core/model/change.ts'
import { type ScopeKey, scopeKey } from '../../src/core/model/scope.ts'
import { HOUR_MS } from '../../src/core/model/units.ts'
import { between, type Draw, pick, stream } from '../../src/sandbox/company/random.ts'
import { emailOf, groupName } from './company.ts'
import type { EventKind } from './event-kinds.ts'
import { later, someGroup, someone, someScope, stormMs } from './event-tools.ts'
import type { Life } from './life.ts'
import { addGrant, addShortGrant, drawCap, drawModel, drawRules, editModel, squeeze } from './policy-edits.ts'
import { copyModel, emptyModel, type ModelCap } from './policy-model.ts'
import { editPools, scalePools } from './pool-edits.ts'
import { MINUTE_MS, NO_SHARES, type SimEvent } from './scenario.ts'

type Act = (life: Life, draw: Draw) => void

export function happen(life: Life, event: SimEvent): void {
  life.note(`* ${event.kind}`)
  ACTS[event.kind](life, stream(life.scenario.seed, `event/${event.name}`))
  life.emit({ kind: 'world', what: event.kind })
}

function foreign(life: Life, scope: ScopeKey, cap: ModelCap): void {
  const email = scope.includes('@')
  const parsed = email
    ? ({ kind: 'user', email: scope } as const)
    : scope === 'team'
      ? ({ kind: 'team' } as const)
      : ({ kind: 'group', id: scope.slice(6) } as const)
  life.service.write(parsed, cap)
  life.note(`  somebody sets ${scope} to ${cap}`)
}

function publish(life: Life): void {
  life.published()
}

function holds(life: Life): readonly string[] {
  return (life.view()?.holds ?? []).map(({ id }) => id)
}

/** `capkeeper approve` for a hold that shows. */
export function approve(life: Life, id: string): void {
  void life.withNotes(async (ledger) => {
    if (ledger.approvals().find((one) => one.id === id)?.state === 'pending') return
    ledger.saveApproval({ id, via: 'command', approvedAt: Math.floor(life.now() + life.wallOffsetMs), state: 'pending', released: [] })
    await ledger.commit()
    life.emit({ kind: 'approved', id })
    life.note(`  hold ${id} is approved`)
  })
}

/** Something to write, so that a death has a chance to fall between. */
function stir(life: Life, draw: Draw): void {
  if (draw() < 0.5) {
    life.model = copyModel(life.model)
    editModel(life, draw)
    publish(life)
  } else {
    const scopes = [someScope(life, draw), someScope(life, draw)]
    for (const scope of scopes) foreign(life, scope, drawCap(draw))
    life.emit({ kind: 'foreign', scopes })
    life.process?.daemon?.hurry()
  }
}

function doomed(life: Life, draw: Draw, doom: NonNullable<Life['process']>['doom']): void {
  if (!life.process) return
  life.process.doom = doom
  const restart = pick(draw, [1, 5, 60, 1200]) * 1000
  const { process } = life
  if (draw() < 0.8) stir(life, draw)
  const look = (): void => {
    if (process.alive) life.clock.later(MINUTE_MS, look)
    else life.startLater(restart)
  }
  look()
}

/** Does something as soon as a write is under way, within a minute. */
function whenWriting(life: Life, act: () => void, tries = 240): void {
  later(life, 250, () => {
    if ((life.process?.ledger?.openIntents() ?? []).length > 0) act()
    else if (tries > 0) whenWriting(life, act, tries - 1)
  })
}

function redraw(life: Life, draw: Draw): void {
  const { protectedPeople, approvals } = life.model
  life.model = { ...drawModel(life, draw), protectedPeople, approvals }
  publish(life)
}

/** `spec.approvals` for a hold that shows. */
function approveInPolicy(life: Life, draw: Draw): void {
  const [first, ...rest] = holds(life)
  if (first === undefined) return
  const id = pick(draw, [first, ...rest])
  life.model = copyModel(life.model)
  life.model.approvals.add(id)
  life.emit({ kind: 'approved', id })
  publish(life)
}

function back(life: Life, emails: readonly string[]): void {
  for (const email of emails) life.company.setStatus(email, 'APPROVED')
  life.emit({ kind: 'world', what: 'back' })
}

const STATUSES = ['PENDING', 'REJECTED', 'APPROVED', 'APPROVED'] as const

const ACTS: Readonly<Record<EventKind, Act>> = {
  join: (life, draw) => {
    const email = emailOf(100 + between(draw, 0, 60))
    if (life.company.people.has(email)) return
    life.company.join(email)
    if (draw() < 0.6) life.company.regroup(email, someGroup(life, draw))
  },
  leave: (life, draw) => {
    if (life.company.people.size > 3) life.company.leave(someone(life, draw))
  },
  status: (life, draw) => life.company.setStatus(someone(life, draw), pick(draw, STATUSES)),
  regroup: (life, draw) => life.company.regroup(someone(life, draw), someGroup(life, draw)),
  'group-gone': (life, draw) => {
    const id = someGroup(life, draw)
    if (!life.company.gone.delete(id)) life.company.gone.add(id)
  },
  'foreign-write': (life, draw) => {
    const scope = someScope(life, draw)
    foreign(life, scope, draw() < 0.3 ? 'none' : drawCap(draw))
    life.emit({ kind: 'foreign', scopes: [scope] })
  },
  'foreign-mass': (life, draw) => {
    const cap = draw() < 0.3 ? ('none' as const) : drawCap(draw)
    const scopes = [
      scopeKey({ kind: 'team' }),
      ...[...life.company.groups.keys()].map((id) => scopeKey({ kind: 'group', id })),
      ...[...life.company.people.keys()].map((email) => scopeKey({ kind: 'user', email })),
    ].filter(() => draw() < 0.7)
    for (const scope of scopes) foreign(life, scope, cap)
    life.emit({ kind: 'foreign', scopes })
  },
  'policy-edit': (life, draw) => {
    life.model = copyModel(life.model)
    editModel(life, draw)
    publish(life)
  },
  'policy-mass': redraw,
  'policy-squeeze': (life, draw) => {
    life.model = copyModel(life.model)
    squeeze(life, draw)
    publish(life)
    if (draw() < 0.5) later(life, between(draw, 1, 30) * MINUTE_MS, () => approveInPolicy(life, draw))
  },
  // Others write while a plan of many changes is carried out.
  race: (life, draw) => {
    redraw(life, draw)
    whenWriting(life, () => {
      const scopes = Array.from({ length: between(draw, 1, 6) }, () => someScope(life, draw))
      for (const scope of scopes) foreign(life, scope, drawCap(draw))
      life.emit({ kind: 'foreign', scopes })
    })
  },
  exodus: (life, draw) => {
    const share = 0.22 + 0.22 * draw()
    const gone = life.company.approved.filter(() => draw() < share)
    for (const email of gone) life.company.setStatus(email, 'PENDING')
    life.process?.daemon?.hurry()
    later(life, between(draw, 10, 300) * 1000, () => {
      life.model = copyModel(life.model)
      if (draw() < 0.5) squeeze(life, draw)
      else editModel(life, draw)
      publish(life)
    })
    if (draw() < 0.5) later(life, between(draw, 20, 200) * MINUTE_MS, () => back(life, gone))
  },
  'policy-broken': (life, draw) => {
    const file = pick(draw, ['wide.yaml', 'people.yaml', undefined])
    const damage = (): void => {
      life.broken = file
      publish(life)
    }
    if (draw() < 0.4) return damage()
    // While some of what was declared is being cleared.
    life.model = copyModel(life.model)
    for (const email of [...life.model.users.keys()].slice(0, 4)) life.model.users.delete(email)
    life.model.grants = []
    publish(life)
    whenWriting(life, damage)
  },
  'policy-emptied': (life, draw) => {
    const before = life.model
    life.model = emptyModel()
    publish(life)
    if (draw() < 0.7) life.clock.later(Math.min(between(draw, 1, 300) * MINUTE_MS, stormMs(life)), () => giveBack(life, before))
  },
  grant: (life, draw) => {
    life.model = copyModel(life.model)
    addGrant(life, draw)
    publish(life)
  },
  protect: (life, draw) => {
    life.model = copyModel(life.model)
    const email = someone(life, draw)
    if (!life.model.protectedPeople.delete(email)) life.model.protectedPeople.add(email)
    publish(life)
    if (draw() < 0.1) return
    // And then somebody forgets about them. While much else waits to be approved, a guard that counts would hold it as well.
    if (draw() < 0.6) for (const id of holds(life)) approve(life, id)
    later(life, between(draw, 1, 60) * MINUTE_MS, () => {
      life.model = copyModel(life.model)
      const rich = [...life.company.inForce()].flatMap(([one, cap]) => (typeof cap === 'number' && cap > 100 ? [one] : [])).slice(0, 2)
      for (const one of rich) life.model.protectedPeople.add(one)
      if (draw() < 0.2) squeeze(life, draw)
      else for (const one of rich) life.model.users.set(one, 100)
      publish(life)
    })
  },
  kill: (life, draw) => {
    life.process?.kill()
    life.startLater(pick(draw, [1, 5, 60, 1200]) * 1000)
  },
  'kill-at-ledger': (life, draw) =>
    doomed(life, draw, { kind: 'ledger', left: between(draw, 1, 12), when: draw() < 0.5 ? 'before' : 'after' }),
  'kill-at-request': (life, draw) => doomed(life, draw, { kind: 'request', left: between(draw, 1, 40), arrives: draw() < 0.5 }),
  stop: (life, draw) => {
    const after = pick(draw, [1, 60, 600]) * 1000
    void life.process?.stop().then(() => life.startLater(after))
  },
  'second-process': (life, draw) => {
    life.start()
    // A rolling update: the old one goes, the new one tries again.
    if (draw() < 0.5) life.clock.later(MINUTE_MS, () => void life.process?.stop().then(() => life.startLater(1000)))
    life.startLater(between(draw, 1, 30) * 1000)
  },
  'wall-jump': (life, draw) => {
    life.wallOffsetMs = pick(draw, [0, 0, 60_000, -60_000, HOUR_MS, -HOUR_MS, 26 * HOUR_MS, -30 * HOUR_MS, 4 * MINUTE_MS])
  },
  'clock-skew': (life, draw) => {
    life.serviceOffsetMs = pick(draw, [0, 0, 2 * MINUTE_MS, -4 * MINUTE_MS, 10 * MINUTE_MS, -3 * HOUR_MS])
    if (draw() < 0.3) return
    life.model = copyModel(life.model)
    addShortGrant(life, draw)
    publish(life)
  },
  pause: (life, draw) => {
    const lengthMs = between(draw, 5, 600) * MINUTE_MS
    const pause = (): void => {
      const now = Math.floor(life.now() + life.wallOffsetMs)
      void life.withNotes((ledger) => ledger.savePause({ untilAt: now + lengthMs, reason: 'looking', pausedAt: now }))
      life.note('  paused')
    }
    if (draw() < 0.3) return pause()
    // In the middle of a plan.
    redraw(life, draw)
    whenWriting(life, pause)
  },
  resume: (life) => void life.withNotes((ledger) => ledger.savePause(undefined)),
  approve: (life, draw) => {
    const shown = holds(life)
    const [first, ...rest] = shown
    // One of them, or everything, or else hardly anything would ever be written.
    if (first !== undefined) for (const id of draw() < 0.5 ? shown : [pick(draw, [first, ...rest])]) approve(life, id)
    if (draw() < 0.5) life.process?.daemon?.hurry()
  },
  'policy-approve': approveInPolicy,
  // Others, or policies, go on meanwhile.
  mode: (life, draw) => {
    life.setMode(pick(draw, ['audit', 'paused', 'enforce']))
    if (draw() < 0.7) stir(life, draw)
  },
  config: (life, draw) => {
    const { rate } = life.scenario
    life.configure({
      intervalMs: pick(draw, [5, 15, 30, 45]) * MINUTE_MS,
      guards: draw() < 0.5 ? DEFAULT_GUARDS : { ...DEFAULT_GUARDS, ...NO_SHARES },
      rate: life.scenario.isSlow ? rate : { start: 5, max: pick(draw, [5, 10, 50]), concurrency: pick(draw, [1, 4, 8]) },
    })
    if (draw() < 0.5) stir(life, draw)
  },
  // The file with the new key comes before the old one is refused, or after it.
  'key-rotated': (life, draw) => {
    const take = (): void => {
      life.keyFile.number = life.keysIssued()
    }
    life.issueKey()
    if (draw() < 0.5) take()
    life.refuseOldKeys()
    later(life, between(draw, 1, 1800) * 1000, take)
    if (draw() < 0.5) stir(life, draw)
  },
  'long-pause': (life, draw) => {
    const now = Math.floor(life.now() + life.wallOffsetMs)
    const untilAt = now + between(draw, 10, 30) * HOUR_MS
    redraw(life, draw)
    void life.withNotes((ledger) => ledger.savePause({ untilAt, reason: 'holidays', pausedAt: now }))
  },
  // Nobody looks for hours, while policy and service go on.
  absence: (life, draw) => {
    life.process?.kill()
    redraw(life, draw)
    life.startLater(Math.min(between(draw, 2, 14) * HOUR_MS, stormMs(life)))
  },
  sighup: (life) => life.process?.daemon?.hurry(),
  use: (life, draw) => {
    for (let times = between(draw, 1, 8); times > 0; times -= 1) {
      const email = someone(life, draw)
      if (life.company.people.has(email)) life.use(email, between(draw, 1, 90_000))
    }
    life.company.usedSome()
  },
  // Most people do something; now and then somebody uses all there is in one go.
  work: (life, draw) => {
    for (const email of life.company.approved) {
      const roll = draw()
      if (roll < 0.6) life.use(email, roll < 0.04 ? 1_000_000 : between(draw, 1, roll < 0.2 ? 40_000 : 12_000))
    }
    life.company.usedSome()
  },
  // Some people get another role, many of them for a moment only: one odd reading.
  role: (life, draw) => {
    const some = life.company.approved.filter(() => draw() < 0.3)
    const flip = (): void => {
      for (const email of some) life.company.setRole(email, life.company.people.get(email)?.role === 'admin' ? 'member' : 'admin')
    }
    flip()
    if (draw() < 0.6) life.clock.later(Math.min(between(draw, 3, 25) * MINUTE_MS, stormMs(life)), flip)
  },
  'rule-edit': (life, draw) => {
    life.model = copyModel(life.model)
    life.model.rules = drawRules(life, life.model, draw)
    publish(life)
  },
  // Somebody with a cap is to have 0, which some services do not keep.
  zero: (life, draw) => {
    life.model = copyModel(life.model)
    const capped = life.company.approved.filter((email) => (life.company.caps().get(scopeKey({ kind: 'user', email })) ?? 0) > 0)
    const [first, ...rest] = capped
    life.model.users.set(first === undefined ? someone(life, draw) : pick(draw, [first, ...rest]), 0)
    publish(life)
  },
  // A group that nobody can list, and in half of the cases nobody can set either, gets a high cap in the place of its members' own.
  'group-dark': (life, draw) => {
    life.model = copyModel(life.model)
    const { model, company } = life
    const [id = someGroup(life, draw)] = [...company.groups.keys()].filter((one) => !model.groups.has(one))
    company.dark.set(id, draw() < 0.5 ? 'unset' : 'unlisted')
    model.groups.set(id, { name: groupName(id), cap: 4000 })
    for (const email of company.groups.get(id) ?? []) if (draw() < 0.7) model.users.delete(email)
    if (draw() < 0.5) model.team = 100
    publish(life)
    later(life, between(draw, 30, 400) * MINUTE_MS, () => void company.dark.delete(id))
  },
  'pool-edit': (life, draw) => {
    life.model = copyModel(life.model)
    editPools(life, draw)
    publish(life)
    if (draw() < 0.4) return
    // Credits go down and soon up again, before what was used under the caps of before has shown.
    scalePools(life.model, 0.6)
    publish(life)
    later(life, between(draw, 40, 150) * MINUTE_MS, () => {
      life.model = copyModel(life.model)
      scalePools(life.model, 1.5)
      publish(life)
    })
  },
}

export function giveBack(life: Life, model: Life['model']): void {
  if (life.model.users.size > 0 || life.model.groups.size > 0) return
  life.model = model
  publish(life)
}

/** Faults and changes are over: one process runs, enforces, and sees the right time. */
export function calm(life: Life): void {
  life.note('* calm')
  life.broken = undefined
  life.company.gone.clear()
  life.company.dark.clear()
  life.keyFile.number = life.keysIssued()
  life.configure({})
  life.wallOffsetMs = 0
  life.serviceOffsetMs = 0
  void life.withNotes((ledger) => ledger.savePause(undefined))
  if (life.process) {
    life.process.doom = undefined
    life.setMode('enforce')
    publish(life)
  } else {
    life.setMode('enforce')
    life.start()
  }
  life.emit({ kind: 'calm' })
}
