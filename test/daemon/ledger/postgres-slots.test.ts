// Slots for a process's few connections.
import { expect, test } from 'vitest'
import { createSlots } from '../../../src/daemon/ledger/postgres/database.ts'
import { fakeClock } from '../../support/clock.ts'

function threeSlots() {
  const clock = fakeClock()
  const slots = createSlots({ count: 3, patienceMs: 1_000, clock, refused: () => new Error('in use') })
  const told: string[] = []
  const take = async (name: string, isUrgent = false): Promise<() => void> => {
    const giveBack = await slots.take(isUrgent)
    told.push(name)
    return giveBack
  }
  return { clock, take, told }
}

test('slots are given in order, and one is reserved for urgent queries', async () => {
  const { clock, take, told } = threeSlots()
  const first = await take('a')
  await take('b')
  const third = take('c')
  void take('d')
  await clock.advance(1)
  expect(told).toEqual(['a', 'b'])
  const lease = await take('lease', true)
  void take('another lease', true)
  await clock.advance(1)
  expect(told).toEqual(['a', 'b', 'lease'])
  // Urgent queries go first, then the others in order.
  first()
  first()
  await clock.advance(1)
  expect(told).toEqual(['a', 'b', 'lease', 'another lease'])
  lease()
  await clock.advance(1)
  expect(told.at(-1)).toBe('c')
  ;(await third)()
  await clock.advance(1)
  expect(told.at(-1)).toBe('d')
})

test('a wait that is too long is refused, and does not block the others', async () => {
  const { clock, take, told } = threeSlots()
  const first = await take('a')
  await take('b')
  const late = take('c').catch((error: Error) => error.message)
  await clock.advance(999)
  const next = take('d')
  await clock.advance(1)
  expect(await late).toBe('in use')
  first()
  await next
  expect(told).toEqual(['a', 'b', 'd'])
})
