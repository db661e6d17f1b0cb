import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { inspect } from 'node:util'
import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { temporaryFolder } from '../support/temporary.ts'
import { keyRing } from './world.ts'

type KeySources = NonNullable<Parameters<typeof keyRing>[1]>

let folder: string
beforeEach(() => {
  folder = temporaryFolder()
})

const file = (name: string, content: string | Buffer): string => {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}

const ringOf = (sources: KeySources, env: Record<string, string> = {}) => keyRing(env, sources)

describe('a key', () => {
  it('comes from the source of its permission, else from the default one', () => {
    const ring = ringOf({ default: { env: 'ALL' }, billingWrite: { file: file('write', 'writer\n') } }, { ALL: 'reader' })
    expect(ring.keyFor('UsageConfig')).toMatchObject({ name: 'billingWrite', value: 'writer' })
    for (const operation of ['GetUsageConfig', 'UserPageAnalytics', 'Analytics'] as const) {
      expect(ring.keyFor(operation)).toMatchObject({ name: 'default', value: 'reader' })
    }
  })

  it('has one id under two names, so that they share one pace', () => {
    const ring = ringOf(
      { default: { env: 'A' }, billingWrite: { env: 'B' }, teamsRead: { env: 'C' } },
      { A: 'same', B: 'same', C: 'other' },
    )
    expect(ring.keyFor('UsageConfig').id).toBe(ring.keyFor('GetUsageConfig').id)
    expect(ring.keyFor('UserPageAnalytics').id).not.toBe(ring.keyFor('GetUsageConfig').id)
  })

  it.each([
    ['a trailing newline', 'secret\n'],
    ['a trailing line end of another system', 'secret\r\n'],
    ['white space around it', '  secret \n\n'],
    ['a byte order mark', '\uFEFFsecret'],
  ])('is read without %s', (_name, content) => {
    expect(ringOf({ default: { file: file('key', content) } }).keyFor('Analytics').value).toBe('secret')
  })

  it('is read again when a secret volume swaps its link', async () => {
    for (const [version, content] of [
      ['v1', 'first'],
      ['v2', 'second'],
    ] as const) {
      mkdirSync(join(folder, version))
      writeFileSync(join(folder, version, 'service-key'), content)
    }
    symlinkSync('v1', join(folder, '..data'))
    symlinkSync(join('..data', 'service-key'), join(folder, 'service-key'))
    const ring = ringOf({ default: { file: join(folder, 'service-key') } })
    const before = ring.keyFor('GetUsageConfig')
    symlinkSync('v2', join(folder, '..data_tmp'))
    renameSync(join(folder, '..data_tmp'), join(folder, '..data'))
    const after = ring.keyFor('GetUsageConfig')
    expect([before.value, after.value]).toEqual(['first', 'second'])
    expect(after.id).not.toBe(before.id)
  })

  it('is read again when the file was rewritten with the same length', async () => {
    const path = file('key', 'aaaa')
    const ring = ringOf({ default: { file: path } })
    expect(ring.keyFor('Analytics').value).toBe('aaaa')
    writeFileSync(path, 'bbbb')
    expect(ring.keyFor('Analytics').value).toBe('bbbb')
  })

  it('stays the last good one while its file is gone', async () => {
    const path = join(folder, 'going')
    writeFileSync(path, 'good')
    const ring = ringOf({ default: { file: path } })
    expect(ring.keyFor('Analytics').value).toBe('good')
    expect(ring.kept()).toEqual([])
    rmSync(path)
    expect(ring.keyFor('Analytics').value).toBe('good')
    expect(ring.kept()).toEqual([`the key file ${path} does not exist (ENOENT)`])
    mkdirSync(path)
    expect(ring.keyFor('Analytics').value).toBe('good')
    expect(ring.kept()).toEqual([`the key file ${path} is not a regular file (NOT_A_FILE)`])
    rmSync(path, { recursive: true })
    writeFileSync(path, 'better')
    expect([ring.keyFor('Analytics').value, ...ring.kept()]).toEqual(['better'])
  })

  it('works again once a broken file is repaired', async () => {
    const path = join(folder, 'late')
    const ring = ringOf({ default: { file: path } })
    expect(() => ring.keyFor('Analytics')).toThrow(/does not exist \(ENOENT\)/)
    writeFileSync(path, 'good')
    expect(ring.keyFor('Analytics').value).toBe('good')
  })
})

describe('a key that cannot be used', () => {
  const content = 'top-secret-content'
  const cases: readonly [string, string | Buffer | KeySources['default'], string, RegExp?][] = [
    ['an empty file', '\n', 'KEY_EMPTY'],
    ['a file that is not there', { file: '/nowhere' }, 'KEY_UNREADABLE', /the key file \/nowhere does not exist \(ENOENT\)/],
    ['a device', { file: '/dev/zero' }, 'KEY_UNREADABLE', /the key file \/dev\/zero is not a regular file \(NOT_A_FILE\)/],
    ['a folder', { file: '/' }, 'KEY_UNREADABLE'],
    ['two lines', `${content}\n${content}`, 'KEY_MALFORMED', /more than one line/],
    ['quotes', `"${content}"\n`, 'KEY_MALFORMED', /is in quotes/],
    ['UTF-16', Buffer.from(`\uFEFF${content}`, 'utf16le'), 'KEY_MALFORMED', /looks like UTF-16/],
    ['UTF-16, with a line end', Buffer.from(`\uFEFF${content}\n`, 'utf16le'), 'KEY_MALFORMED', /looks like UTF-16/],
    ['a control character', `${content}\u0007x`, 'KEY_MALFORMED'],
    ['far too much', content.repeat(1_000), 'KEY_MALFORMED'],
    ['an unset variable', { env: 'NOT_SET' }, 'KEY_MISSING'],
    ['an empty variable', { env: 'EMPTY' }, 'KEY_EMPTY'],
  ]

  it.each(cases)('is a problem at start-up and an auth error in use, without its content: %s', (_name, source, code, reason = /./) => {
    const isText = typeof source === 'string' || Buffer.isBuffer(source)
    const ring = ringOf({ default: isText ? { file: file('key', source) } : source }, { EMPTY: '' })
    expect(ring.problems()).toEqual([expect.objectContaining({ severity: 'error', code, message: expect.stringMatching(reason) })])
    let thrown: unknown
    try {
      ring.keyFor('GetUsageConfig')
    } catch (error) {
      thrown = error
    }
    expect(thrown).toMatchObject({ kind: 'auth', operation: 'GetUsageConfig', permission: 'Billing Read', unsent: true })
    expect(inspect([thrown, ring.problems(), ring], { depth: 9, showHidden: true })).not.toContain(content)
  })

  it('is one problem when there is no source at all, and a warning for a permission without one', () => {
    expect(ringOf({}).problems()).toEqual([expect.objectContaining({ severity: 'error', code: 'KEY_MISSING' })])
    const some = ringOf({ billingRead: { env: 'K' } }, { K: 'k' })
    expect(some.problems().map(({ severity, message }) => [severity, message])).toEqual([
      ['warning', expect.stringContaining('Analytics Read')],
      ['warning', expect.stringContaining('Teams Read-only')],
      ['warning', expect.stringContaining('Billing Write')],
    ])
    expect(() => some.keyFor('UsageConfig')).toThrow(
      /UsageConfig: no service key is configured for Billing Write; set keys.billingWrite or keys.default/,
    )
  })
})

describe('redact', () => {
  it('removes every key ever loaded, in every encoding', () => {
    const env = { K: 'first "quoted" key/1' }
    const ring = ringOf({ default: { env: 'K' } }, env)
    ring.keyFor('Analytics')
    env.K = 'second-key'
    ring.keyFor('Analytics')
    const text = `a ${'first "quoted" key/1'} b ${JSON.stringify({ k: 'first "quoted" key/1' })} c ${encodeURIComponent('first "quoted" key/1')} d second-key e`
    expect(ring.redact(text)).toBe('a [key] b {"k":"[key]"} c [key] d [key] e')
  })

  it('removes long pieces of a key that was cut short', () => {
    const ring = ringOf({ default: { env: 'K' } }, { K: 'abcdefghijklmnopqrstuvwxyz' })
    ring.keyFor('Analytics')
    expect(ring.redact('key abcdefghijklmnop… refused')).toBe('key [key]… refused')
    expect(ring.redact('…mnopqrstuvwxyz, abcdefghijklm')).toBe('…[key], [key]')
    expect(ring.redact('abcdefgh stays')).toBe('abcdefgh stays')
  })

  it('leaves no piece of a key in any text', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 12, maxLength: 30 })
    fc.assert(
      fc.property(word, fc.string({ unit: fc.constantFrom('a', 'b', ' '), maxLength: 60 }), fc.nat(20), (key, around, from) => {
        const ring = ringOf({ default: { env: 'K' } }, { K: key })
        ring.keyFor('Analytics')
        const clean = ring.redact(`${around}${key} …${key.slice(from)}${around}`)
        expect(pieces(key).filter((piece) => clean.includes(piece))).toEqual([])
      }),
    )
  })
})

const pieces = (key: string): readonly string[] => Array.from({ length: Math.max(0, key.length - 11) }, (_, at) => key.slice(at, at + 12))
