import { expect, test } from 'vitest'
import { groupScope, TEAM, userScope } from '../../../src/core/model/scope.ts'
import { credits } from '../../../src/core/model/units.ts'
import { EMAIL_LABELS } from '../../../src/daemon/http/labels.ts'
import { offences } from '../../support/api-schema.ts'
import { HASHED_LABELS } from '../../support/documents.ts'
import { serve } from '../../support/serve.ts'
import { emptyView, fullView, HOLD, NOW, personEmail, rosterOf } from '../../support/views.ts'

/** What /status says of a workspace. Whatever the view, the document is as the OpenAPI document says, and has no name of a person. */
async function statusOf(view: ReturnType<typeof fullView>, people = EMAIL_LABELS) {
  const { url } = await serve({ views: () => [view], people })
  const text = await (await fetch(`${url}/status`)).text()
  const document = JSON.parse(text)
  expect(offences('Status', document)).toEqual([])
  expect(document.peopleShown).toBe(people.shown)
  expect(text).not.toContain('Person 1')
  return document.workspaces[0]
}

test('the status document says what the view says, with instants as RFC 3339', async () => {
  const workspace = await statusOf(fullView())
  expect(workspace.lastCycle).toEqual({
    startedAt: '2026-11-20T11:58:58.000Z',
    finishedAt: '2026-11-20T11:59:00.000Z',
    result: 'held',
    message: '1 change applied, 1 held',
  })
  expect(workspace.scopes).toMatchObject({ drifted: 4, held: 1, unknown: 1, skipped: 1, in_sync: 1 })
  expect(workspace.attention).toContainEqual({
    kind: 'team',
    scope: 'team',
    state: 'drifted',
    desired: 500,
    observed: 800,
    readAt: '2026-11-20T11:59:00.000Z',
    cause: 'external',
    driftSince: '2026-11-20T11:00:00.000Z',
    source: { file: 'policies/acme.yaml', line: 8, column: 10 },
  })
  expect(workspace.held).toEqual([{ ...HOLD, changes: 1 }].map(({ release: _, ...hold }) => hold))
  expect(workspace).toMatchObject({
    holds: 1,
    people: 20,
    cycle: { end: '2026-12-01T00:00:00.000Z' },
    addOn: { source: 'estimated', notMeasured: 'denied' },
  })
  expect(workspace.use).toMatchObject({
    used: 1900,
    ratios: { '6h': 1.5, '24h': 1.25 },
    projected: { p10: 2600, p50: 2850.12, p90: 3100 },
    exhaustion: '2026-11-27T06:00:00.000Z',
  })
  expect(workspace.problems[0]).toMatchObject({ at: { file: 'policies/acme.yaml', line: 21, column: 10 }, hint: 'did you mean "email"?' })
  expect([workspace.approvals, workspace.clockSkewSeconds]).toEqual([[{ id: '0a1b2c3d4e5f', state: 'spent' }], -1.5])
})

test('a person has one hash as scope, in a message and in what was seen of the deployment, which has a fixed order', async () => {
  const workspace = await statusOf(fullView(), HASHED_LABELS)
  const [hash, three, four] = ['oncall@example.com', personEmail(3), personEmail(4)].map(HASHED_LABELS.label)
  expect(workspace.attention.find(({ state }: { state: string }) => state === 'held').scope).toBe(hash)
  expect(workspace.warningTexts).toEqual([`UsageConfig was refused for ${hash}: the key needs Billing Write`])
  expect(workspace.seen).toEqual([
    {
      aspect: 'caps',
      value: 'layered',
      at: '2026-11-20T11:00:00.000Z',
      evidence: `after team was written (500 to 600), ${three} kept its 4000`,
      before: { value: 'copied', at: '2026-11-20T09:00:00.000Z', evidence: `${four} changed` },
    },
    { aspect: 'spelling', value: 'snake', at: '2026-11-20T11:00:00.000Z', evidence: 'an answer' },
  ])
})

test('pools and how many people each rule reaches are listed, within bounds', async () => {
  const figures = { readAt: NOW, credits: 1000, used: 812.345, dealt: 990, exhaustedAt: NOW + 86_400_000, members: 3, isUsedUp: false }
  const pools = [
    { name: 'research', credits: credits(1000), figures, dealtAt: NOW - 3_600_000 },
    { name: 'labs', credits: credits(50), frozen: `${personEmail(2)} has no known use` },
  ]
  const rules = Array.from({ length: 102 }, (_, index) => ({ name: `rule ${index}`, people: index }))
  const workspace = await statusOf({ ...emptyView(), pools, rules }, HASHED_LABELS)
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
    { name: 'labs', credits: 50, frozen: `${HASHED_LABELS.label(personEmail(2))} has no known use` },
  ])
  expect(workspace.rules).toEqual(rules.slice(0, 100))
  expect(workspace).toMatchObject({ rulesOmitted: 2, poolsOmitted: 0 })
})

test('use is summed up in whole cents', async () => {
  const people = rosterOf(3).people.map((person) => ({ ...person, used: credits(0.1) }))
  expect((await statusOf({ ...fullView(), roster: rosterOf(0, { people }) })).use.used).toBe(0.3)
})

test('what was never known is left out', async () => {
  const workspace = await statusOf(emptyView())
  const unknown = ['policy', 'pause', 'lastCycle', 'lastSuccessAt', 'use', 'balance', 'ratePerSecond', 'clockSkewSeconds']
  expect(unknown.filter((name) => name in workspace)).toEqual([])
  expect(workspace).toMatchObject({ pools: [], rules: [], rulesOmitted: 0 })
})

test('what needs a person is listed first, and the document says how much it leaves out', async () => {
  const drifted = Array.from({ length: 100 }, (_, index) => {
    return { scope: userScope(personEmail(index)), state: 'drifted', desired: credits(1), observed: credits(2) } as const
  })
  const held = { scope: groupScope('g'), state: 'held', desired: credits(1), observed: credits(2), cause: 'policy' } as const
  const rejected = { scope: TEAM, state: 'rejected', observed: 'unknown', why: 'refused' } as const
  const { attention, attentionOmitted } = await statusOf({ ...emptyView(), scopes: [...drifted, held, rejected] })
  expect(attention.slice(0, 2).map(({ state }: { state: string }) => state)).toEqual(['rejected', 'held'])
  expect([attention.length, attentionOmitted]).toEqual([100, 2])
})
