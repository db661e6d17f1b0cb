import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { WorkspaceView } from '../../../src/core/model/events.ts'
import { groupScope, TEAM, userScope } from '../../../src/core/model/scope.ts'
import { credits } from '../../../src/core/model/units.ts'
import { EMAIL_LABELS, hashLabels } from '../../../src/daemon/http/status/labels.ts'
import { STATUS_LIMITS, statusDocument } from '../../../src/daemon/http/status/status.ts'
import { offences } from '../../support/api-schema.ts'
import { balanceOf, emptyView, fullView, HOLD, NOW, peopleOf, personEmail, rosterOf, USE } from '../../support/views.ts'

const digest = (text: string) => createHash('sha256').update(text).digest('hex')
const HASHED = hashLabels(digest, 'salt of this installation')
const HEALTHY = { configValid: true, ledgerWritable: true }

/** Whatever the view, the document is as the OpenAPI document says. */
const statusOf = (view: WorkspaceView, people = EMAIL_LABELS) => {
  const document = statusDocument([view], { ...HEALTHY, version: '0.1.0' }, { people, now: NOW })
  expect(offences('Status', document)).toEqual([])
  return document
}

const workspaceOf = (view: WorkspaceView, people = EMAIL_LABELS) => {
  const [workspace] = statusOf(view, people).workspaces
  if (!workspace) throw new Error('no workspace in the document')
  return workspace
}

describe('the status document', () => {
  test('says what the view says, with instants as RFC 3339, and as the OpenAPI document has it', () => {
    statusOf(emptyView(), HASHED)
    const workspace = workspaceOf(fullView())
    expect(workspace.lastCycle).toEqual({
      startedAt: '2026-11-20T11:58:58.000Z',
      finishedAt: '2026-11-20T11:59:00.000Z',
      result: 'held',
      message: '1 change applied, 1 held',
    })
    expect(workspace.scopeCounts.user).toMatchObject({ drifted: 2, held: 1, unknown: 1, skipped: 1, in_sync: 0 })
    expect(workspace.scopes).toContainEqual({
      kind: 'team',
      scope: 'team',
      state: 'drifted',
      desired: 500,
      observed: 800,
      readAt: '2026-11-20T11:59:00.000Z',
      cause: 'external',
      driftSince: '2026-11-20T11:00:00.000Z',
      source: 'policies/acme.yaml:8:10',
    })
    expect(workspace.holds[0]).toMatchObject({ id: HOLD.id, changes: [{ scope: 'oncall@example.com', from: 900, to: 100 }] })
    expect(workspace.use).toMatchObject({ people: 20, used: 1900, cycleEnd: '2026-12-01T00:00:00.000Z' })
    expect(workspace.burn).toEqual({
      ratios: { '6h': 1.5, '24h': 1.25 },
      projected: { p10: 2600, p50: 2850.12, p90: 3100 },
      exhaustion: '2026-11-27T06:00:00.000Z',
      models: USE.models,
      modelsOmitted: 0,
    })
    expect(workspace.policy?.problems[0]).toMatchObject({ at: 'policies/acme.yaml:21:10', hint: 'did you mean "email"?' })
  })

  test('says what was seen of the deployment, with what contradicts it, and in a fixed order', () => {
    expect(workspaceOf(fullView(), HASHED).seen).toEqual([
      {
        aspect: 'caps',
        value: 'layered',
        at: '2026-11-20T11:00:00.000Z',
        evidence: `after team was written (500 to 600), ${HASHED.label(personEmail(3))} kept its 4000`,
        before: { value: 'copied', at: '2026-11-20T09:00:00.000Z', evidence: `${HASHED.label(personEmail(4))} changed` },
      },
      { aspect: 'spelling', value: 'snake', at: '2026-11-20T11:00:00.000Z', evidence: 'an answer' },
    ])
  })

  test('lists pools and how many people each rule reaches, within bounds', () => {
    const figures = { readAt: NOW, credits: 1000, used: 812.345, dealt: 990, exhaustedAt: NOW + 86_400_000, members: 3, isUsedUp: false }
    const pools = [
      { name: 'research', credits: credits(1000), figures, dealtAt: NOW - 3_600_000 },
      { name: 'labs', credits: credits(50), frozen: `${personEmail(2)} has no known use` },
    ]
    const many = Array.from({ length: STATUS_LIMITS.rules + 2 }, (_, index) => ({ name: `rule ${index}`, people: index }))
    const workspace = workspaceOf({ ...emptyView(), pools, rules: many }, HASHED)
    expect(workspace.pools).toEqual([
      {
        name: 'research',
        credits: 1000,
        used: 812.35,
        dealt: 990,
        people: 3,
        exhaustion: '2026-11-21T12:00:00.000Z',
        readAt: '2026-11-20T12:00:00.000Z',
        dealtAt: '2026-11-20T11:00:00.000Z',
      },
      { name: 'labs', credits: 50, frozen: `${HASHED.label(personEmail(2))} has no known use` },
    ])
    expect(workspace.rules).toHaveLength(STATUS_LIMITS.rules)
    expect(workspace).toMatchObject({ rulesOmitted: 2, poolsOmitted: 0 })
    expect(workspaceOf(emptyView())).toMatchObject({ pools: [], rules: [], rulesOmitted: 0 })
  })

  test('sums up use in whole cents', () => {
    const people = rosterOf(3).people.map((person) => ({ ...person, used: credits(0.1) }))
    expect(workspaceOf({ ...fullView(), roster: rosterOf(0, { people }) }).use?.used).toBe(0.3)
  })

  test('leaves out what was never known', () => {
    const workspace = JSON.parse(JSON.stringify(workspaceOf(emptyView())))
    for (const name of ['policy', 'pause', 'lastCycle', 'lastSuccessAt', 'use', 'balance', 'burn', 'ratePerSecond', 'clockSkewSeconds']) {
      expect(workspace).not.toHaveProperty(name)
    }
  })

  test('lists what needs a person first, and says how much it leaves out', () => {
    const inSync = Array.from({ length: STATUS_LIMITS.scopes }, (_, index) => {
      return { scope: userScope(personEmail(index)), state: 'in_sync', desired: credits(1), observed: credits(1) } as const
    })
    const held = { scope: groupScope('g'), state: 'held', desired: credits(1), observed: credits(2), cause: 'policy' } as const
    const rejected = { scope: TEAM, state: 'rejected', observed: 'unknown', why: 'refused' } as const
    const workspace = workspaceOf({ ...emptyView(), scopes: [...inSync, held, rejected] })
    expect(workspace.scopes.slice(0, 2).map(({ state }) => state)).toEqual(['rejected', 'held'])
    expect(workspace.scopes).toHaveLength(STATUS_LIMITS.scopes)
    expect(workspace.scopesOmitted).toBe(2)
  })

  test('names only people near their cap, the nearest first', () => {
    const roster = rosterOf(120)
    const workspace = workspaceOf({ ...emptyView(), roster, people: peopleOf(roster, 700, balanceOf()) })
    expect(workspace.use?.nearCap.map(({ person }) => person).slice(0, 2)).toEqual([personEmail(119), personEmail(118)])
    expect(workspace.use?.nearCap).toHaveLength(10)
    expect(workspace.use?.bands).toMatchObject({ under_50: 85, '95_to_100': 3 })
  })

  test('never shows the name of a person', () => {
    expect(JSON.stringify(statusOf(fullView()))).not.toContain('Person 1')
  })
})

describe('e-mails as hashes', () => {
  test('give the same person the same 12 digits as scope, in a hold and in a message', () => {
    const hash = HASHED.label('oncall@example.com')
    expect(hash).toMatch(/^[0-9a-f]{12}$/)
    const workspace = workspaceOf(fullView(), HASHED)
    expect(workspace.scopes.find(({ state }) => state === 'held')?.scope).toBe(hash)
    expect(workspace.holds[0]?.changes[0]?.scope).toBe(hash)
    expect(workspace.warnings).toEqual([`UsageConfig was refused for ${hash}: the key needs Billing Write`])
  })
})
