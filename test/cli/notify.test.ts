// `notify preview` as a user types it, against a service on loopback: it says what would go out, and sends and records nothing.
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { hashLabels } from '../../src/daemon/http/status/labels.ts'
import { sha256 } from '../../src/daemon/schedule/system.ts'
import { startSandboxServer } from '../../src/sandbox/http/server.ts'
import { createSandbox } from '../../src/sandbox/sandbox.ts'
import { folders } from '../policy/support.ts'
import { realClock } from '../support/real-clock.ts'
import { mailServer } from '../support/smtp.ts'
import { run } from './world.ts'

const folder = folders()

const POLICY = `apiVersion: capkeeper/v1
kind: CapPolicy
metadata: {name: acme}
spec:
  team: {cap: 1}
  groups: [{id: grp_platform, name: Platform, cap: 1}]
`

const COMPANY = { people: 12, groups: 2, days: 40, seed: 1 }

async function preview(notify: string, ...flags: readonly string[]) {
  const sandbox = createSandbox({ clock: realClock(), company: COMPANY })
  const server = await startSandboxServer({ sandbox, host: '127.0.0.1', port: 0 })
  onTestFinished(async () => {
    await server.close()
    sandbox.close()
  })
  sandbox.writeCap({ kind: 'team' }, 1)
  const config = `apiVersion: capkeeper/v1\nkind: Config\n${notify}workspaces:\n- {name: acme, baseUrl: "${server.url}", policies: [p.yaml]}\n`
  const at = folder({ 'c.yaml': config, 'p.yaml': POLICY })
  return run(['notify', 'preview', '--config', join(at, 'c.yaml'), '--ledger', ':memory:', ...flags], {
    env: { CAPKEEPER_SERVICE_KEY: 'sandbox-admin' },
    clock: realClock(),
  })
}

describe('notify preview', () => {
  it('prints each message with its receiver and its words, and reaches for no mail server', async () => {
    const mail = await mailServer()
    const notify = `notify:\n  email: {host: 127.0.0.1, port: ${mail.port}, tls: none, from: caps@example.com}\n  people: [1]\n  digest: daily\n  owners: [{group: grp_platform, email: [boss@example.com]}, {group: grp_x, email: [boss@example.com]}]\n`
    const { code, stdout } = await preview(notify)
    expect(code).toBe(0)
    expect(stdout).toMatch(/^acme: \d+ messages would go out now$/m)
    expect(stdout).toContain('notify.owners: no policy declares the group grp_x')
    expect(stdout).toMatch(/^to {7}\S+@example\.com\nsubject {2}\d+ % of your add-on credits are used$/m)
    expect(stdout).toMatch(/^to {7}boss@example\.com\nsubject {2}Platform: /m)
    expect(mail.connections).toBe(0)
  })

  it('gives the same as JSON', async () => {
    const { stdout } = await preview('notify:\n  email: {host: h, from: a@b.example}\n  people: [1]\n', '--output', 'json')
    const document: unknown = JSON.parse(stdout)
    expect(document).toMatchObject({ kind: 'Notifications', workspaces: [{ workspace: 'acme', quiet: false, notes: [] }] })
    expect(stdout).toContain('"about": "person"')
  })

  it('hashes people with a key that nobody can guess, also where the ledger has none', async () => {
    const notify = `notify:\n  email: {host: h, from: a@b.example}\n  people: [1]\n  digest: daily\n  owners: [{group: grp_platform, email: [boss@example.com]}]\n`
    const { stdout } = await preview(`people: hash\n${notify}`, '--output', 'json')
    const shown = new Set(stdout.match(/[0-9a-f]{12}(?=: )/g))
    expect(shown.size).toBeGreaterThan(0)
    const company = createSandbox({ clock: realClock(), company: COMPANY })
    const emails = company.store.people().map(({ email }) => email)
    company.close()
    const guess = hashLabels(sha256, '')
    expect(emails.filter((email) => shown.has(guess.label(email)))).toEqual([])
  })

  it('says how to ask for messages where the config asks for none', async () => {
    const { code, stderr } = await preview('')
    expect(code).toBe(1)
    expect(stderr).toContain('the config asks for no messages: write notify: into it')
  })
})
