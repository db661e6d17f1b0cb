// Waves for somebody in many groups: what is tried in every combination, and what beyond it.
import { describe, expect, test } from 'vitest'
import { schedule } from '../../../src/core/plan/wave.ts'
import type { PlainCap } from '../../support/declare.ts'
import { changeOf, peopleOf, waveOf } from '../../support/waves.ts'

describe('somebody in many groups', () => {
  const many = (count: number) => Array.from({ length: count }, (_, index) => `g${index}`)

  test.each([
    [1, 1],
    [1, 2],
    [6, 2],
    [7, 1],
  ])('of which %i get a first cap and %i are raised is not lifted above what a pool deals, whichever fail', (firsts, raised) => {
    const ids = many(firsts + raised)
    const from = (index: number): PlainCap => (index < firsts ? 'none' : 4)
    const changes = ids.map((id, index) => changeOf(`group:${id}`, from(index), index < firsts ? 500 : 900))
    const dealt = { ...changeOf('p0', 'none', 500), isPooled: true }
    const groups = Object.fromEntries(ids.map((id) => [id, ['p0']]))
    const set = Object.fromEntries(ids.map((id, index) => [`group:${id}`, from(index)]))
    const inputs = { ...waveOf({ groups, set, changes }), people: peopleOf(groups, ['p0']), pending: [...changes, dealt] }
    expect(schedule(inputs).waves.map((wave) => wave.length)).toEqual([ids.length - 1, 1])
  })
})
