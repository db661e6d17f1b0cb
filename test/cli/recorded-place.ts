// A folder with a ledger that the real adapter wrote, a policy and a config, for `simulate` and `recommend`.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openLedger } from '../../src/daemon/ledger/ledger.ts'
import { fakeClock } from '../support/clock.ts'
import { ownedCap, TEAM } from '../support/ledger.ts'
import { type RecordedCompany, recordCompany } from '../support/recorded.ts'
import { temporaryFolder } from '../support/temporary.ts'
import { run } from './world.ts'

export const PEOPLE = ['ada', 'bob', 'cy', 'dan'].map((name) => `${name}@example.com`)
export const BUSY = PEOPLE[0] ?? ''

/** Ada uses 40 credits a working day, the others 10; seats include 100. Whole cycles: August to October 2026. */
export const COMPANY: RecordedCompany = {
  people: PEOPLE.map((email) => ({ email, uses: ({ weekday }) => (weekday > 4 ? 0 : email === BUSY ? 40 : 10) })),
  fromAt: Date.UTC(2026, 7, 1),
  untilAt: Date.UTC(2026, 10, 20),
  creditsPerSeat: 100,
  groups: [{ id: 'grp_web', name: 'Web', emails: PEOPLE.slice(0, 2) }],
}

export const POLICY = {
  apiVersion: 'capkeeper/v1',
  kind: 'CapPolicy',
  metadata: { name: 'acme' },
  spec: { workspace: 'acme', team: { cap: 50 }, groups: [{ id: 'grp_web', name: 'Web', cap: 400 }] },
}

/** A folder with a ledger, a policy and a config; runs commands in it. */
export async function recordedPlace(company: RecordedCompany | 'empty' = COMPANY, config: Readonly<Record<string, unknown>> = {}) {
  const folder = temporaryFolder()
  const write = (name: string, value: unknown): string => {
    writeFileSync(join(folder, name), typeof value === 'string' ? value : JSON.stringify(value))
    return join(folder, name)
  }
  const clock = fakeClock()
  const store = await openLedger({ file: join(folder, 'ledger.db'), mode: 'write', clock })
  const ledger = await store.workspace('acme', 'https://a.example/api/v1')
  ledger.saveOwned([ownedCap(TEAM, 10_000)])
  if (company !== 'empty') await recordCompany(ledger, company)
  await ledger.commit()
  await store.close()
  const policy = write('policy.yaml', POLICY)
  const workspaces = [{ name: 'acme', baseUrl: 'https://a.example', policies: ['policy.yaml'] }]
  const configFile = write('config.yaml', { apiVersion: 'capkeeper/v1', kind: 'Config', ledger: 'ledger.db', ...config, workspaces })
  return {
    policy,
    /** Adds another workspace with the same policy, of which this much is recorded. */
    async beside(name: string, recorded: RecordedCompany | 'empty'): Promise<void> {
      const again = await openLedger({ file: join(folder, 'ledger.db'), mode: 'write', clock })
      const other = await again.workspace(name, `https://${name}.example/api/v1`)
      other.saveOwned([ownedCap(TEAM, 10_000)])
      if (recorded !== 'empty') await recordCompany(other, recorded)
      await other.commit()
      await again.close()
      write(`${name}.yaml`, { ...POLICY, metadata: { name }, spec: { ...POLICY.spec, workspace: name } })
      workspaces.push({ name, baseUrl: `https://${name}.example`, policies: [`${name}.yaml`] })
      write('config.yaml', { apiVersion: 'capkeeper/v1', kind: 'Config', ledger: 'ledger.db', ...config, workspaces })
    },
    write,
    /** Runs a command with the config. */
    run: (command: string, ...argv: readonly string[]) => run([command, ...argv, '--config', configFile], { clock }),
  }
}
