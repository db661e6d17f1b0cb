// `doctor` against services that take what they should refuse, answer nothing, or are not there; and with files that everybody may read.
// Its output never holds a key.
import { chmodSync } from 'node:fs'
import { describe, expect, onTestFinished, test } from 'vitest'
import { userScope } from '../../src/core/model/scope.ts'
import { openLedger } from '../../src/daemon/ledger/ledger.ts'
import { listen } from '../api/world.ts'
import { type Ran, run as runHere } from '../cli/world.ts'
import { authority, hasOpenssl, httpsServer } from '../support/certificates.ts'
import { intentFor, raise } from '../support/ledger.ts'
import { hurriedClock, realClock } from '../support/real-clock.ts'
import { temporaryFolder } from '../support/temporary.ts'
import { type World, world } from './world.ts'

interface Check {
  readonly area: string
  readonly name: string
  readonly status: string
  readonly message: string
  readonly hint?: string
  readonly workspace?: string
}

interface Doctor extends Ran {
  readonly checks: readonly Check[]
  readonly document: { readonly workspaces: readonly { readonly keys: readonly Record<string, unknown>[]; readonly seen: unknown }[] }
  /** `status: message` of one check. */
  line(area: string, name: string): string | undefined
}

async function doctor(argv: readonly string[], env: Readonly<Record<string, string>> = {}, clock = realClock()): Promise<Doctor> {
  const ran = await runHere(['doctor', ...argv, '--output', 'json'], { env, clock })
  expect(`${ran.stdout}${ran.stderr}`).not.toMatch(/sandbox-(admin|analytics|teams-read|billing-(read|write))/)
  const document = ran.stdout === '' ? { checks: [], workspaces: [] } : JSON.parse(ran.stdout)
  const checks: readonly Check[] = document.checks
  const line = (area: string, name: string): string | undefined =>
    checks.filter((one) => one.area === area && one.name === name).map(({ status, message }) => `${status}: ${message}`)[0]
  return { ...ran, checks, document, line }
}

const doctorOf = (one: World): Promise<Doctor> => doctor(one.flags)

interface Asked {
  readonly operation: string
  readonly fields: Readonly<Record<string, unknown>>
}

/** A service that answers as the sandbox does, but where this has an answer to a request with a key. */
async function inFrontOf(one: World, answerTo: (asked: Asked) => readonly [status: number, body: string] | undefined): Promise<string> {
  const { url, close } = await listen((request, response, body) => {
    const { service_key: key, ...fields } = JSON.parse(body)
    const answer = key === undefined ? undefined : answerTo({ operation: request.url?.split('/').at(-1) ?? '', fields })
    if (answer) response.writeHead(answer[0], { 'content-type': 'application/json' }).end(answer[1])
    else
      fetch(`${one.service.url}${request.url}`, { method: 'POST', body, headers: { 'content-type': 'application/json' } }).then(
        async (answer) => response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text()),
        () => response.destroy(),
      )
  })
  onTestFinished(close)
  return url
}

test('a service that accepts a write without a cap is reported', async () => {
  const one = await world()
  const url = await inFrontOf(one, ({ operation, fields }) =>
    operation === 'UsageConfig' && !Object.keys(fields).some((name) => name.endsWith('_cap')) ? [200, '{}'] : undefined,
  )
  const found = await doctor([...one.flags, '--base-url', url])
  expect(found.line('keys', 'oddWrite')).toBe('warning: the service accepted a write of default that named no cap, for nobody')
  expect(found.code).toBe(0)
})

test('a refused write tells nothing of the key where the workspace has no caps', async () => {
  const one = await world()
  const [invalid, denied] = [[400, '{"code":"invalid_argument"}'] as const, [403, '{"code":"permission_denied"}'] as const]
  const url = await inFrontOf(one, ({ operation }) => ({ GetUsageConfig: invalid, UsageConfig: denied })[operation])
  const { line } = await doctor([...one.flags, '--base-url', url])
  expect(line('keys', 'default')).toMatch(/^ok: .* holds Analytics Read, Teams Read-only; could not tell Billing Read, Billing Write$/)
})

describe('a service that refuses to work', () => {
  const DOWN = [503, '{"error":"down"}'] as const
  const QUICK = hurriedClock()

  test('fails for every key, and no key is said to lack a permission that is unclear', async () => {
    const one = await world()
    const found = await doctor([...one.flags, '--base-url', await inFrontOf(one, () => DOWN)], {}, QUICK)
    expect(found.line('service', 'reached')).toMatch(/^ok: /)
    expect(found.line('keys', 'default')).toMatch(/^failed: default .* could not tell Analytics Read, .*the service failed \(503\)/)
    expect(found.line('plan', 'balance')).toMatch(/^failed: .*503/)
    expect(found.line('plan', 'people')).toMatch(/^failed: .*503/)
    expect(found.stdout).not.toContain('no key may read')
    expect(found.code).toBe(1)
  })

  test.each([
    ['GetUsageConfig', 'failed', 1],
    ['CascadeAnalytics', 'failed', 1],
    ['Analytics', 'warning', 0],
    ['UsageConfig', 'not_checked', 0],
  ])('at %s alone is %s, as bad as a key without it, while a write is only tried by an odd request', async (broken, status, code) => {
    const one = await world()
    const url = await inFrontOf(one, ({ operation }) => (operation === broken ? DOWN : undefined))
    const found = await doctor([...one.flags, '--base-url', url], {}, QUICK)
    expect(found.line('keys', 'default')).toMatch(new RegExp(`^${status}: `))
    expect(found.code).toBe(code)
  })

  test('because of its rate limit is waited for, with a note', async () => {
    const one = await world()
    let begun: number | undefined
    const url = await inFrontOf(one, () => {
      begun ??= QUICK.monotonic()
      return QUICK.monotonic() - begun < 30_000 ? [429, '{"error":"rate limit exceeded"}'] : undefined
    })
    const found = await runHere(['doctor', ...one.flags, '--base-url', url], { clock: QUICK })
    expect(found.stderr).toContain(
      'note: acme: the service refuses requests, because its rate limit is reached; waiting until it takes them',
    )
    expect(found).toMatchObject({ code: 0, stdout: expect.stringContaining('holds Analytics Read, Teams Read-only, Billing Read') })
  })
})

describe.skipIf(!hasOpenssl)('a service whose certificate does not hold', () => {
  test.each([
    [
      'of an authority that is not named',
      'IP:127.0.0.1',
      2,
      false,
      'name the CA that signed it with --ca-file; verification is never turned off',
    ],
    ['for another host', 'DNS:other.example', 2, true, 'write the host name that the certificate is for into the base URL'],
    ['that has expired', 'IP:127.0.0.1', -1, true, /^have the service renew it/],
  ] as const)('%s fails with the way out', async (_what, names, days, isNamed, hint) => {
    const one = await world()
    const ours = authority(temporaryFolder(), 'ours')
    const server = await httpsServer(ours.sign(names, days), (_request, response) => response.end('{}'))
    onTestFinished(() => server.close())
    const { checks, code } = await doctor([...one.flags, '--base-url', server.url, ...(isNamed ? ['--ca-file', ours.file] : [])])
    const found = checks.find(({ area, name }) => area === 'service' && name === 'reached')
    expect([code, found?.status, found?.hint]).toEqual([1, 'failed', expect.stringMatching(hint)])
  })
})

describe('a service that is not there', () => {
  test('because it speaks plain HTTP fails', async () => {
    const one = await world()
    const found = await doctor([...one.flags, '--base-url', one.service.url.replace('http:', 'https:')])
    expect(found.line('service', 'reached')).toMatch(/^failed: /)
    expect(found.code).toBe(1)
  })

  test('because its name is unknown fails', async () => {
    const one = await world()
    const found = await doctor([...one.flags, '--base-url', 'https://no-such-host.invalid'])
    expect(found.line('service', 'reached')).toMatch(/failed: https:\/\/no-such-host.invalid/)
  })
})

test('files that everybody may read are warnings with the command that closes them', async () => {
  const one = await world()
  const key = one.path('key')
  chmodSync(key, 0o644)
  expect((await doctorOf(one)).checks.find(({ name }) => name === 'key default')).toMatchObject({
    status: 'warning',
    hint: `chmod o-r ${key}`,
  })
  chmodSync(key, 0o400)
  expect((await doctorOf(one)).line('files', 'key default')).toMatch(/^ok: /)
})

test('writes without a known end and scopes that are left alone are warnings', async () => {
  const one = await world()
  await one.run('apply', '--yes')
  const clock = realClock()
  const store = await openLedger({ file: one.path('ledger.db'), mode: 'write', clock })
  const ledger = await store.workspace('acme', one.service.url)
  const scope = userScope('ada.lovelace@example.com')
  await ledger.recordIntent(intentFor({ ...raise(scope, 0, 900), from: 'none' }, { at: clock.now() - 60_000 }))
  await ledger.saveQuarantined({ scope, code: 'CAP_REJECTED', at: clock.now(), message: 'no', entry: { kind: 'undeclared' } })
  await ledger.commit()
  await store.close()
  const found = await doctorOf(one)
  expect(found.line('records', 'intents')).toBe('warning: 1 write without a known end')
  expect(found.line('records', 'quarantine')).toBe('warning: 1 scope left alone: ada.lovelace@example.com (CAP_REJECTED)')
  expect(found.line('records', 'lastReading')).toMatch(/^ok: people were read \d+ s ago$/)
})
