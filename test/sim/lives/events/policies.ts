// Events of policies: small and large edits, broken and empty files, grants, approvals.
import { scopeKey } from '../../../../src/core/model/scope.ts'
import { between, pick } from '../../../../src/sandbox/company/company.ts'
import type { Life } from '../life.ts'
import { addGrant, declareAsIs, drawRules, editModel, lowerWide, squeeze, swapUp } from '../policy-edits.ts'
import { emptyModel, isOfFile } from '../policy-model.ts'
import { MINUTE_MS, oneOf } from '../scenario.ts'
import { type Acts, approve, approveInPolicy, holds, later, redraw, someGroup, someone, stormMs, whenWriting } from './tools.ts'

function giveBack(life: Life, model: Life['model']): void {
  if (life.model.users.size > 0 || life.model.groups.size > 0) return
  life.model = model
  life.published()
}

export const POLICIES = {
  'policy-edit': (life, draw) => {
    editModel(life, draw)
    life.published()
  },
  'policy-mass': redraw,
  'policy-squeeze': (life, draw) => {
    squeeze(life, draw)
    life.published()
    if (draw() < 0.5) later(life, between(draw, 1, 30) * MINUTE_MS, () => approveInPolicy(life, draw))
  },
  'policy-broken': (life, draw) => {
    const file = pick(draw, ['wide.yaml', 'people.yaml', undefined])
    const damage = (): void => {
      life.broken = file
      life.published()
    }
    if (draw() < 0.4) return damage()
    // While some scopes that were declared are being cleared.
    for (const email of [...life.model.users.keys()].slice(0, 4)) life.model.users.delete(email)
    life.model.grants = []
    life.published()
    whenWriting(life, damage)
  },
  'policy-emptied': (life, draw) => {
    const before = life.model
    life.model = emptyModel()
    life.published()
    if (draw() < 0.7) life.clock.later(Math.min(between(draw, 1, 300) * MINUTE_MS, stormMs(life)), () => giveBack(life, before))
  },
  grant: (life, draw) => {
    addGrant(life, draw)
    life.published()
  },
  protect: (life, draw) => {
    const email = someone(life, draw)
    if (!life.model.protectedPeople.delete(email)) life.model.protectedPeople.add(email)
    life.published()
    if (draw() < 0.1) return
    // And the hold is forgotten. While many other changes wait for approval, a guard that counts would hold this one as well.
    if (draw() < 0.6) for (const id of holds(life)) approve(life, id)
    later(life, between(draw, 1, 60) * MINUTE_MS, () => {
      const rich = [...life.company.inForce()].flatMap(([one, cap]) => (typeof cap === 'number' && cap > 100 ? [one] : [])).slice(0, 2)
      for (const one of rich) life.model.protectedPeople.add(one)
      if (draw() < 0.2) squeeze(life, draw)
      else for (const one of rich) life.model.users.set(one, 100)
      life.published()
    })
  },
  // A person with a cap is to have 0, which some services do not keep.
  zero: (life, draw) => {
    const capped = life.company.approved.filter((email) => (life.company.caps().get(scopeKey({ kind: 'user', email })) ?? 0) > 0)
    life.model.users.set(oneOf(draw, capped) ?? someone(life, draw), 0)
    life.published()
  },
  // One or two people get their own cap from a group instead, and that group's cap cannot be set for now.
  handover: (life, draw) => {
    const id = someGroup(life, draw)
    const some = life.company.approved.filter(() => draw() < 0.3).slice(0, between(draw, 1, 2))
    for (const email of some) life.model.users.set(email, 1500)
    life.published()
    later(life, between(draw, 30, 150) * MINUTE_MS, () => {
      life.company.locked.set(id, draw() < 0.5 ? 400 : 503)
      for (const email of some) swapUp(life.model, email, id)
      for (const email of some) if (life.company.groups.get(id)?.has(email) === false) life.company.regroup(email, id)
      life.published()
      later(life, between(draw, 30, 400) * MINUTE_MS, () => void life.company.locked.delete(id))
    })
  },
  // A line is removed again as soon as its cap is written, while readings still show the cap before.
  'second-thoughts': (life, draw) => {
    const undeclared = life.company.approved.filter((one) => !life.model.users.has(one))
    const email = oneOf(draw, undeclared)
    if (email === undefined) return
    life.model.users.set(email, 1500 + between(draw, 1, 9))
    life.published()
    whenWriting(life, () =>
      later(life, between(draw, 3, 30) * 1000, () => {
        life.model.users.delete(email)
        life.published()
        const scope = scopeKey({ kind: 'user', email })
        life.company.behind.add(scope)
        later(life, MINUTE_MS, () => void life.company.behind.delete(scope))
      }),
    )
  },
  // Lines declare the caps that people inherit, and then the ancestor's cap is lowered.
  'as-is': (life, draw) => {
    declareAsIs(life, draw)
    life.published()
    later(life, between(draw, 20, 150) * MINUTE_MS, () => {
      lowerWide(life)
      life.published()
    })
  },
  // So many people are lowered, and some blocked, that guards hold both; only the lowered ones are approved.
  'two-holds': (life, draw) => {
    const rich = [...life.company.inForce()].flatMap(([email, cap]) => (typeof cap === 'number' && cap > 100 ? [email] : []))
    const most = Math.floor(Math.max(5, life.company.approved.length / 4))
    if (rich.length < most + 2) return
    for (const [place, email] of rich.slice(0, most + 2).entries()) life.model.users.set(email, place < most ? 100 : 0)
    life.published()
    later(life, between(draw, 5, 60) * MINUTE_MS, () => {
      const [largest] = (life.view()?.holds ?? []).toSorted((a, b) => b.changes.length - a.changes.length)
      if (largest) approve(life, largest.id)
    })
  },
  'rule-edit': (life, draw) => {
    const ofFile = life.model.rules.filter(isOfFile)
    life.model.rules = [...ofFile, ...drawRules(life, life.model, draw)]
    life.published()
  },
  approve: (life, draw) => {
    const shown = holds(life)
    // All holds half of the time: else hardly any write would be made.
    if (shown.length > 0) for (const id of draw() < 0.5 ? shown : [oneOf(draw, shown) ?? '']) approve(life, id)
    if (draw() < 0.5) life.process?.daemon?.hurry()
  },
  'policy-approve': approveInPolicy,
} satisfies Partial<Acts>
