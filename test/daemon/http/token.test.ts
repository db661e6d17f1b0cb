import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type LedgerGateOptions, ledgerGate } from '../../../src/daemon/http/auth.ts'
import { temporaryFolder } from '../../support/ledger.ts'

const TOKEN = 'a-token-of-some-length'
const gate = (options: Partial<LedgerGateOptions>) => ledgerGate({ host: '127.0.0.1', token: undefined, env: { TOKEN }, ...options })

describe('access to /ledger', () => {
  const rows: readonly (readonly [string, Partial<LedgerGateOptions>, string | undefined, number | undefined])[] = [
    ['anybody on this machine, without a token', {}, undefined, undefined],
    ['nobody from elsewhere, without a token', { host: '0.0.0.0' }, undefined, 403],
    ['nobody from elsewhere, whatever they show, without a token', { host: '::' }, `Bearer ${TOKEN}`, 403],
    ['who shows the token', { host: '0.0.0.0', token: { env: 'TOKEN' } }, `Bearer ${TOKEN}`, undefined],
    ['who shows it in other words', { host: '0.0.0.0', token: { env: 'TOKEN' } }, `bearer  ${TOKEN} `, undefined],
    ['not who shows none', { token: { env: 'TOKEN' } }, undefined, 401],
    ['not who shows the beginning of it', { token: { env: 'TOKEN' } }, `Bearer ${TOKEN.slice(0, -1)}`, 401],
    ['not who shows more than it', { token: { env: 'TOKEN' } }, `Bearer ${TOKEN}x`, 401],
    ['not who shows it as a password', { token: { env: 'TOKEN' } }, `Basic ${TOKEN}`, 401],
    ['nobody while the token cannot be read', { token: { env: 'NONE' } }, 'Bearer ', 403],
    ['nobody while its file is missing', { token: { file: '/nowhere/token' } }, 'Bearer undefined', 403],
  ]
  test.each(rows)('%s', (_name, options, header, status) => {
    expect(gate(options)(header)?.status).toBe(status)
    expect(gate(options)(header)?.message ?? '').not.toContain(TOKEN)
  })

  test('a token in a file counts as soon as it is there', () => {
    const file = join(temporaryFolder(), 'token')
    writeFileSync(file, 'first\n')
    const judge = gate({ token: { file } })
    expect(judge('Bearer first')).toBeUndefined()
    writeFileSync(file, 'second\n')
    expect([judge('Bearer first')?.status, judge('Bearer second')?.status]).toEqual([401, undefined])
  })
})
