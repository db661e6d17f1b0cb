// Questions about runs of agents as the client sends them, and the bound on what it makes of an answer; of single answers answers.txt tells.
import { describe, expect, it } from 'vitest'
import { messageOf, ok } from './answers.ts'
import { hastyClock, rowByRow, scripted, type TestClient, testClient } from './world.ts'

/** The bodies that one question is asked with, without the key. */
async function bodiesOf(ask: (client: TestClient['client']) => Promise<unknown>): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const { client, sent } = testClient(() => ({}))
  await ask(client)
  return sent.map(({ body: { service_key: _, ...rest } }) => JSON.parse(JSON.stringify(rest)))
}

describe('runs of some days', () => {
  const midnight = (day: number) => Date.UTC(2026, 1, day)
  it('are asked for in one request that ends before the first excluded day, or has no end', async () => {
    const days = { fromAt: midnight(1), untilAt: midnight(3) }
    expect(await bodiesOf((client) => client.readRuns({ ...days, groupName: 'Platform' }))).toEqual([
      {
        group_name: 'Platform',
        start_timestamp: '2026-02-01T00:00:00.000Z',
        end_timestamp: '2026-02-02T23:59:59.999Z',
        query_requests: [{ cascade_runs: {} }],
      },
    ])
    expect(await bodiesOf((client) => client.readRuns({ fromAt: midnight(1), email: 'a@x.y' }))).toEqual([
      { emails: ['a@x.y'], start_timestamp: '2026-02-01T00:00:00.000Z', query_requests: [{ cascade_runs: {} }] },
    ])
  })

  it.each([
    ['in its wrapper', (cascadeRuns: readonly object[]) => ({ cascadeRuns: { cascadeRuns } })],
    ['without the inner wrapper', (cascadeRuns: readonly object[]) => ({ cascadeRuns })],
  ])('are read row by row, however many there are, from a list %s', async (_name, wrapped) => {
    const list = Array.from({ length: 2_000 }, () => ({ day: '2026-02-01', model: 'M', mode: 'X', messagesSent: '1' }))
    const clock = hastyClock(midnight(3))
    const transport = rowByRow(scripted(clock, () => ok({ queryResults: [wrapped(list)] })))
    const { client } = testClient(() => ({}), { transport }, clock)
    expect((await client.readRuns({ fromAt: midnight(1) })).rows).toMatchObject([{ model: 'M', mode: 'X', messages: 2_000 }])
  })

  it('are malformed when there are too many kinds', async () => {
    const run = { day: '2026-02-01', mode: 'X', messagesSent: '1', promptsUsed: '250' }
    const cascadeRuns = Array.from({ length: 20_001 }, (_, index) => ({ ...run, model: String(index) }))
    const { client } = testClient(() => ok({ queryResults: [{ cascadeRuns: { cascadeRuns } }] }), {}, hastyClock(midnight(3)))
    expect(await client.readRuns({ fromAt: midnight(1) }).catch(messageOf)).toBe(
      'CascadeAnalytics: the answer has more than 20000 kinds of runs and was dropped',
    )
  })
})
