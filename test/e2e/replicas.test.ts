// Several daemons on one PostgreSQL: who keeps what, and what happens when one dies, stands still, stops, or the database goes away.
import { describe, expect, onTestFinished, test } from 'vitest'
import { LEASE_MS } from '../../src/core/replicas/lease.ts'
import { openLedger } from '../../src/daemon/ledger/ledger.ts'
import { hasPostgres, postgresForFile } from '../support/postgres.ts'
import { capkeeper, type DaemonProcess, startDaemon, until } from '../support/process.ts'
import { realClock } from '../support/real-clock.ts'
import type { SandboxFixture } from '../support/sandbox.ts'
import { configText, type Place, place, policyText, service, workspace } from './world.ts'

const server = postgresForFile()
const clock = realClock()
const NAMES = ['acme', 'beta', 'gamma'] as const
type Name = (typeof NAMES)[number]

interface Company {
  readonly services: Readonly<Record<Name, SandboxFixture>>
  readonly address: string
  readonly at: Place
  flags(): readonly string[]
  replica(): Promise<DaemonProcess>
}

async function company(interval = '300ms'): Promise<Company> {
  const at = place()
  const address = await server().create()
  const services = { acme: await service(), beta: await service(), gamma: await service() }
  for (const name of NAMES) at.write(`policies/${name}.yaml`, policyText('team: {cap: 500}', name))
  const flags = (): readonly string[] => {
    at.write('key', 'sandbox-admin\n')
    const all = NAMES.map((name) =>
      workspace(name, services[name].url, {
        policies: [`policies/${name}.yaml`],
        interval,
        guards: { maxAffected: 'off', maxRaise: 'off' },
      }),
    )
    return ['--config', at.write('config.yaml', configText(all, { ledger: address }))]
  }
  return {
    services,
    address,
    at,
    flags,
    replica: () => startDaemon([...flags()], { cwd: at.folder }),
  }
}

interface Shown {
  readonly workspace: string
  readonly heldBy?: string
  readonly lastCycle?: unknown
}

const heldBy = async (one: DaemonProcess): Promise<readonly Name[]> => {
  const metrics = await one.metrics()
  return NAMES.filter((name) => metrics.value('capkeeper_workspace_held', { workspace: name }) === 1)
}

/** Everything is held once by one of these. */
const spreadOver = async (...all: readonly DaemonProcess[]): Promise<readonly (readonly Name[])[]> => {
  const found: (readonly Name[])[] = []
  await until('each workspace is held by one replica, evenly', async () => {
    // Pages cost the replicas more than all else that they do here.
    if (found.length > 0) await clock.sleep(1_000)
    const held = await Promise.all(all.map(heldBy))
    const most = Math.max(...held.map((one) => one.length))
    found.splice(0, found.length, ...held)
    return held.flat().toSorted().join() === NAMES.join() && most <= Math.ceil(NAMES.length / all.length)
  })
  return found
}

describe.skipIf(!hasPostgres)('replicas on one PostgreSQL', () => {
  test('share the workspaces, take over from one that dies or hangs, and hand over at once', async () => {
    // Three daemons wait for a minute, for the most part for leases to end.
    const { services, replica } = await company('5s')
    const first = await replica()
    await spreadOver(first)
    const second = await replica()
    const third = await replica()
    const held = await spreadOver(first, second, third)
    const [ofSecond] = held[1] ?? []
    if (ofSecond === undefined) throw new Error('the second replica has one')
    for (const one of [first, second, third]) {
      await until('every replica shows all workspaces, and who holds each', async () => {
        const { workspaces }: { workspaces: readonly Shown[] } = JSON.parse((await one.get('/status')).text)
        expect(workspaces.map(({ workspace: name }) => name)).toEqual([...NAMES])
        return workspaces.every(({ heldBy: holder, lastCycle }) => holder !== undefined && lastCycle !== undefined)
      })
      expect((await one.get('/')).text).toContain('Held by replica')
      const shared: { workspaces: readonly { readonly workspace: string; readonly owned: readonly unknown[] }[] } = JSON.parse(
        (await one.get('/ledger')).text,
      )
      expect(shared.workspaces.map(({ workspace, owned }) => `${workspace} ${owned.length}`).toSorted()).toEqual(
        NAMES.map((name) => `${name} 1`),
      )
      for (const name of NAMES) {
        await until('every replica shows what the policies of each workspace ask', async () => {
          const { documents, items } = JSON.parse((await one.get(`/api/v1/workspaces/${name}/policies`)).text)
          return documents.join() === name && items.length === 1 && items[0].cap === 500 && items[0].people > 0
        })
        await until('every replica shows what happened in each workspace', async () => {
          const { items } = JSON.parse((await one.get(`/api/v1/workspaces/${name}/changes`)).text)
          const { days } = JSON.parse((await one.get(`/api/v1/workspaces/${name}/series/drift`)).text)
          return items.some(({ kind }: { readonly kind: string }) => kind === 'policy') && days.at(-1).found === 0
        })
      }
    }

    // One dies, one stands still for longer than its lease: the third goes on for both. `npm run bench` measures how soon.
    first.signal('SIGKILL')
    second.signal('SIGSTOP')
    await spreadOver(third)
    for (const name of NAMES) services[name].setCap('team', 9)
    await until('the foreign changes are put right', () => NAMES.every((name) => services[name].capOf('team') === 500))

    // Whatever it was about to write: the third has put it right, and each write since then would be one too many.
    const written = services[ofSecond].calls.count('UsageConfig')
    second.signal('SIGCONT')
    await until('the one that stood still sees that its lease is over', async () => !(await heldBy(second)).includes(ofSecond))
    expect(services[ofSecond].calls.count('UsageConfig')).toBe(written)

    // One that is told to stop hands over: nobody waits for its leases to end.
    await spreadOver(second, third)
    const stopped = clock.monotonic()
    third.signal('SIGTERM')
    await spreadOver(second)
    expect(clock.monotonic() - stopped).toBeLessThan(LEASE_MS - 3_000)
    await third.ended
  })

  test('keep a command from writing what they hold, and a replica with other settings or older policies from writing at all', async () => {
    const { services, replica, at, flags, address } = await company()
    const store = await openLedger({ file: address, mode: 'write', clock, env: {}, fence: () => undefined })
    onTestFinished(() => store.close())
    const peer = { id: 'other', name: 'pod-7' }
    const beat = { replica: peer, lastsMs: 600_000, renew: [], release: [], refuses: [], spreads: true }
    const taken = await store.leases?.beat({ ...beat, take: [{ workspace: 'acme', config: 'another' }] })
    const apply = () => capkeeper(['apply', '--yes', ...flags()], { cwd: at.folder })
    const refused = await apply()
    expect(refused.stderr).toContain('acme is held by pod-7')
    expect(services.acme.capOf('team')).toBeUndefined()
    expect(services.beta.capOf('team')).toBe(500)

    // The other one has settings of its own for acme, and has had newer policies of beta; it lives on, so old ones do not come back.
    const daemon = await replica()
    await daemon.shows('capkeeper_workspace_held', 1, { workspace: 'gamma' })
    const told = /pod-7 has settings another, which count, here they are [0-9a-f]{12}; this replica leaves it alone/
    const tells = (path: string, words: RegExp) => async (): Promise<boolean> => words.test((await daemon.get(path)).text)
    for (const path of ['/status', '/', '/workspaces/acme/health']) await until(`${path} tells of the difference`, tells(path, told))
    // What concerns one workspace is told where that one is shown, and so to nobody who may not see it.
    expect(JSON.parse((await daemon.get('/status')).text).conditions).toEqual([])
    const { replicas } = JSON.parse((await daemon.get('/api/v1/workspaces/acme/health')).text)
    expect(replicas).toHaveLength(2)
    expect(replicas).toContainEqual({ name: 'pod-7', keeps: true })
    await store.leases?.followed(
      'other',
      new Map([
        ['beta', 'newer'],
        ['gamma', 'newer'],
      ]),
    )
    await until('the newer policies are seen', async () => (await daemon.get('/status')).text.includes('POLICY_REPLACED'))
    // Files that break leave in force what was replaced.
    at.write('policies/beta.yaml', 'kind: [')
    await until('the broken file is seen', async () => (await daemon.get('/status')).text.includes('policies/beta.yaml'))
    services.beta.setCap('team', 7)
    services.gamma.setCap('team', 7)
    await until('a page tells why nothing is written', tells('/workspaces/gamma/health', /newer policies/))
    await clock.sleep(2_000)
    expect([services.beta.capOf('team'), services.gamma.capOf('team')]).toEqual([7, 7])
    at.write('policies/gamma.yaml', policyText('team: {cap: 600}', 'gamma'))
    await until('files that follow count', () => services.gamma.capOf('team') === 600)

    const token = taken?.taken.get('acme')?.token ?? 0
    await store.leases?.beat({ ...beat, take: [], release: [{ workspace: 'acme', token }], spreads: false })
    await daemon.shows('capkeeper_workspace_held', 1, { workspace: 'acme' })

    // A newer capkeeper has changed the schema: whoever does not know it lets go of everything, and says so.
    await server().sql(new URL(address).pathname.slice(1), 'UPDATE capkeeper.schema_version SET version = 8')
    await until('it is not ready', async () => (await daemon.get('/readyz')).status === 503)
    for (const name of NAMES) await daemon.shows('capkeeper_workspace_held', 0, { workspace: name })
    expect((await daemon.get('/status')).text).toContain('was written by a newer capkeeper')
    const sent = NAMES.map((name) => services[name].calls.count('UsageConfig'))
    services.acme.setCap('team', 6)
    await clock.sleep(1_500)
    expect(NAMES.map((name) => services[name].calls.count('UsageConfig'))).toEqual(sent)
  })
})
