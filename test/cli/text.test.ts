import { describe, expect, test } from 'vitest'
import { durationMs, readHoldId, readSince } from '../../src/cli/shared/args.ts'
import { createSecrets } from '../../src/cli/shared/context.ts'
import { shellWord } from '../../src/core/escape/terminal.ts'

describe('flag values', () => {
  test.each([
    ['90s', 90_000],
    ['30m', 1_800_000],
    ['4h', 14_400_000],
    ['7d', 604_800_000],
    ['2w', 1_209_600_000],
    ['1h30m', 5_400_000],
    ['4', undefined],
    ['h', undefined],
    ['-4h', undefined],
    ['4 h', undefined],
    ['', undefined],
  ])('a duration written %j is %s ms', (text, ms) => {
    expect(durationMs(text)).toBe(ms)
  })

  test.each([
    ['7d', Date.UTC(2026, 10, 13, 12)],
    ['2026-11-01', Date.UTC(2026, 10, 1)],
    ['2026-11-01T10:00:00Z', Date.UTC(2026, 10, 1, 10)],
    ['2026-11-01 10:00+02:00', Date.UTC(2026, 10, 1, 8)],
  ])('since %s is an instant', (text, at) => {
    expect(readSince(text)(Date.UTC(2026, 10, 20, 12))).toBe(at)
  })

  test.each(['yesterday', '2026-02-31', '2026-13-01', '2026-11-01T10:00:00', '1'])('since %j is refused', (text) => {
    expect(() => readSince(text)).toThrow('Write a duration')
  })

  test('a hold id has 8 to 32 hex digits, in any case', () => {
    expect(readHoldId('7D1F0C2A9B34')).toBe('7d1f0c2a9b34')
    for (const wrong of ['7d1f0c2', `${'7d1f0c2a'.repeat(4)}0`, '7d1f0c2a9b3g', ''])
      expect(() => readHoldId(wrong)).toThrow('32 hex digits')
  })

  test('a word is quoted for the shell only when it must be', () => {
    expect(shellWord('a/b.db')).toBe('a/b.db')
    expect(shellWord("it's here")).toBe(`"it's here"`)
  })
})

describe('secrets', () => {
  test('are taken out in every spelling, and short words are left alone', () => {
    const secrets = createSecrets()
    secrets.add('sk/very"secret\n')
    secrets.add('ab')
    secrets.add('')
    const shown = secrets.redact(`ab sk/very"secret ${JSON.stringify({ key: 'sk/very"secret' })} ${encodeURIComponent('sk/very"secret')}`)
    expect(shown).toBe('ab *** {"key":"***"} ***')
  })
})
