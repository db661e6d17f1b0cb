// Pools over the cycle, as documents tell them from what each plan left in the figures of its day. That the answer keeps to its schema is looked at
// in api.test.ts.

import { afterEach, describe, expect, test } from 'vitest'
import { EVERYBODY } from '../../../src/daemon/http/auth.ts'
import { createLibrary, sourceOf } from '../../../src/daemon/http/documents/make.ts'
import type { PoolSeries } from '../../../src/daemon/http/documents/types.ts'
import { EMAIL_LABELS } from '../../../src/daemon/http/status/labels.ts'
import { email, HOUR } from '../../support/declare.ts'
import { HASHED_LABELS } from '../../support/documents.ts'
import { createWorld, type World } from '../../support/world.ts'

const open: { close(): Promise<unknown> }[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()))
})

const seriesOf = ({ workspace, clock }: World): Promise<PoolSeries> =>
  createLibrary({
    sources: () => [sourceOf(workspace, () => 1)],
    daemon: () => ({ version: '0.1.0', configValid: true, ledgerWritable: true }),
    people: EMAIL_LABELS,
    hashed: HASHED_LABELS,
    clock: { ...clock, monotonic: () => 0 },
    sourceUrl: () => undefined,
  })
    .for(EVERYBODY)
    .poolSeries('acme')

describe('the series of pools', () => {
  const pools = [{ name: 'research', credits: 1_000, members: { kind: 'emails' as const, emails: ['p001', 'p002'].map(email) } }]

  test('has a figure for each day on which a cycle was run, and none for days before', async () => {
    const world = await createWorld({ people: 4, caps: { team: 10 } })
    open.push(world)
    await world.cycle({ caps: { team: 500 }, pools })
    await world.cycle()
    await world.clock.pass(24 * HOUR)
    await world.cycle()
    const series = await seriesOf(world)
    expect(series).toMatchObject({ poolsOmitted: 0, cycle: expect.anything(), pools: [{ name: 'research', credits: 1_000 }] })
    const days = series.pools[0]?.days ?? []
    expect(days.slice(0, 3)).toEqual([{ day: '2026-11-01' }, { day: '2026-11-02' }, { day: '2026-11-03' }])
    expect(days.slice(-2)).toEqual([
      { day: '2026-11-20', used: 0, dealt: 1_000 },
      { day: '2026-11-21', used: 0, dealt: 1_000 },
    ])
    // As the ledger keeps it, so that a restart forgets nothing.
    world.workspace.chronicle?.keep()
    await world.ledger.commit()
    expect(world.ledger.fact('days')?.map((day) => day.pools?.['research']?.credits)).toEqual([1_000, 1_000])
  })

  test('is empty without pools', async () => {
    const world = await createWorld({ people: 4 })
    open.push(world)
    await world.cycle({ caps: { team: 500 } })
    expect((await seriesOf(world)).pools).toEqual([])
  })
})
