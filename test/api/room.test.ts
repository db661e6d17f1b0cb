import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createRoom } from '../../src/api/transport/cut.ts'

describe('the memory that all answers share', () => {
  it('refuses an answer that needs more than is left, and has room again when that is freed', () => {
    const room = createRoom(1_000)
    const [one, other] = [room.open(), room.open()]
    const large = one.begin()
    expect(large.grow(700)).toBe(true)
    expect(large.grow(100)).toBe(false)
    large.free()
    expect(other.begin().grow(700)).toBe(true)
  })

  it('leaves each workspace a share, however much the others take', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100 }), fc.array(fc.nat(1_000_000), { maxLength: 50 }), (others, sizes) => {
        const room = createRoom(1_000_000)
        const small = room.open()
        const greedy = Array.from({ length: others }, () => room.open())
        for (const [index, size] of sizes.entries()) {
          const claim = greedy[index % others]?.begin()
          if (claim?.grow(size)) claim.keep(String(index))
          else claim?.free()
        }
        expect(small.begin().grow(1_000_000 / (2 * (others + 1)))).toBe(true)
      }),
    )
  })

  it('counts kept content once, until it is replaced', () => {
    const room = createRoom(1_000)
    const one = room.open()
    for (let turn = 0; turn < 10; turn += 1) {
      const claim = one.begin()
      expect(claim.grow(400)).toBe(true)
      claim.keep('people')
    }
    expect(one.begin().grow(700)).toBe(false)
  })

  it('is freed when a workspace ends', () => {
    const room = createRoom(1_000)
    const one = room.open()
    one.begin().grow(900)
    one.close()
    expect(room.open().begin().grow(900)).toBe(true)
  })
})
