import { describe, expect, test } from 'vitest'
import { inside } from '../support/inside.ts'
import { startDaemon } from '../support/process.ts'
import { configText, policyText, type World, workspace, world } from './world.ts'

const POLICY = `team: {cap: 500}
groups:
  - {id: grp_platform, name: Platform, cap: 1500}
users:
  - {email: ada.lovelace@example.com, cap: 4000}
  - {email: alan.turing@example.com, cap: 300}`

/** Lowers everybody, and declares Alan no more. */
const EDITED = `team: {cap: 100}
groups:
  - {id: grp_platform, name: Platform, cap: 1500}
users:
  - {email: ada.lovelace@example.com, cap: 4000}`

/** With a config of its own. */
const asReviewer = (at: World, ...argv: readonly string[]) => inside(argv, { cwd: at.folder })

const planOf = (text: string) => {
  const { changes, holds } = JSON.parse(text)
  return { changes, holds }
}

describe('plan with the ledger of a running daemon', () => {
  test('shows the same orphans, holds and hold ids as with the file, with hashed people on the wire, and refuses a daemon of another workspace', async () => {
    const at = await world({ policy: POLICY, settings: { mode: 'enforce' } })
    const daemon = await at.daemon()
    const { url } = daemon
    await daemon.shows('capkeeper_scopes', 2, { workspace: 'acme', kind: 'user', state: 'in_sync' })
    await daemon.shows('capkeeper_scopes', 1, { workspace: 'acme', kind: 'team', state: 'in_sync' })
    at.write('review/acme.yaml', policyText(EDITED))
    const config = at.write('review.yaml', configText([workspace('acme', at.service.url, { policies: ['review'] })]))
    const plan = (ledger: string, ...more: readonly string[]) =>
      asReviewer(at, 'plan', '--config', config, '--ledger', ledger, '--output', 'json', ...more)
    const [remote, local] = [await plan(url), await plan(at.path('ledger.db'))]
    expect(remote).toMatchObject({ code: 0, stderr: '' })
    expect(planOf(remote.stdout)).toEqual(planOf(local.stdout))
    expect(JSON.parse(remote.stdout).changes).toContainEqual(
      expect.objectContaining({ scope: { kind: 'user', email: 'alan.turing@example.com' }, action: 'clear', cause: 'orphan' }),
    )
    expect(JSON.parse(remote.stdout).holds.length).toBeGreaterThan(0)
    expect(await (await fetch(`${url}/ledger`)).text()).not.toContain('example.com')
    // `approve` writes, so it runs beside the daemon, with the flags of that place.
    expect((await asReviewer(at, 'plan', '--config', config, '--ledger', url)).stdout).toMatch(/capkeeper approve [0-9a-f]{32}\n/)

    const explained = await asReviewer(at, 'explain', 'alan.turing@example.com', '--config', config, '--ledger', url)
    expect(explained).toMatchObject({ code: 0, stdout: expect.stringContaining('Last write: ') })
    expect(await asReviewer(at, 'history', '--config', config, '--ledger', url)).toMatchObject({ code: 64 })
    expect(await asReviewer(at, 'apply', '--yes', '--config', config, '--ledger', url)).toMatchObject({ code: 64, stdout: '' })

    // A daemon that knows the workspace under another name, or its service at another address, is refused.
    for (const [name, address, message] of [
      ['globex', at.service.url, 'has no workspace globex; it has acme'],
      ['acme', `${at.service.url}/other`, 'and the address here is'],
    ] as const) {
      const other = at.write('other.yaml', configText([workspace(name, address)]))
      const ran = await asReviewer(at, 'plan', '--config', other, '--ledger', url)
      expect(ran).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining(message) })
    }
  })

  test('remembers for whom a rule with a pattern of addresses holds, as the file does', async () => {
    const rule = 'rules:\n  - {name: for ceo@example.com, when: {email: "ada*@example.com", role: member}, cap: 700}'
    const at = await world({ policy: `team: {cap: 500}\n${rule}`, settings: { mode: 'enforce', usageInterval: '1h' } })
    const { store } = at.service.sandbox
    const setRole = (role: string): void => {
      const ada = store.person('ada.lovelace@example.com')
      if (ada) store.savePerson({ ...ada, role })
    }
    setRole('member')
    const daemon = await at.daemon()
    await daemon.shows('capkeeper_scopes', 1, { workspace: 'acme', kind: 'user', state: 'in_sync' })
    // One reading that says otherwise changes nothing yet, for whoever remembers what was so before.
    setRole('admin')
    const config = at.write('review.yaml', configText([workspace('acme', at.service.url)]))
    const plan = (ledger: string) => asReviewer(at, 'plan', '--config', config, '--ledger', ledger, '--output', 'json')
    const [remote, local] = [await plan(daemon.url), await plan(at.path('ledger.db'))]
    expect(planOf(local.stdout)).toEqual({ changes: [], holds: [] })
    expect(planOf(remote.stdout)).toEqual(planOf(local.stdout))
    expect(await (await fetch(`${daemon.url}/ledger`)).text()).not.toContain('example.com')
  })

  test('sends the token that the daemon asks for, from the environment or a file; another token is refused', async () => {
    const at = await world({ policy: 'team: {cap: 500}' })
    at.write('token', 'the-token-of-the-ledger\n')
    at.write('wrong', 'another-token\n')
    const config = at.write('guarded.yaml', configText([workspace('acme', at.service.url)], { ledgerToken: { file: 'token' } }))
    const daemon = await startDaemon(['--config', config], { cwd: at.folder })
    await daemon.shows('capkeeper_scopes', 1, { workspace: 'acme', kind: 'team', state: 'in_sync' })
    const plan = (env: Readonly<Record<string, string>>, ...more: readonly string[]) =>
      inside(['plan', '--config', config, '--ledger', daemon.url, ...more], { cwd: at.folder, env })
    const refused = { code: 1, stdout: '', stderr: expect.stringContaining('answered 401: ') }
    expect(await plan({})).toMatchObject(refused)
    expect(await plan({}, '--ledger-token-file', 'wrong')).toMatchObject(refused)
    expect(await plan({}, '--ledger-token-file', 'nowhere')).toMatchObject({ code: 64 })
    expect(await plan({ CAPKEEPER_LEDGER_TOKEN: 'the-token-of-the-ledger' })).toMatchObject({ code: 0 })
    expect(await plan({}, '--ledger-token-file', 'token')).toMatchObject({ code: 0 })
    expect(daemon.stderr()).not.toContain('the-token-of-the-ledger')
  })
})
