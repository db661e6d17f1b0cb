// What an end-to-end test starts from: the embedded service over real HTTP in this process, with a clock that moves, and a folder with
// policies, a key file and a config that goes fast. Commands that answer run inside the test; daemons are processes.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { Operation } from '../../src/core/model/observed.ts'
import type { Clock } from '../../src/ports.ts'
import { inside } from '../support/inside.ts'
import { type ProcessOptions, startDaemon } from '../support/process.ts'
import { realClock } from '../support/real-clock.ts'
import { type SandboxFixture, type SandboxFixtureOptions, startSandbox } from '../support/sandbox.ts'
import { temporaryFolder } from '../support/temporary.ts'

/** Refusals and waiting are not what these tests are about. */
export const FAST = { start: 1_000, max: 1_000 }

export type Place = ReturnType<typeof place>

export type World = Awaited<ReturnType<typeof world>>

/** A folder that goes away with the test. */
export function place() {
  const folder = temporaryFolder()
  const path = (name: string): string => join(folder, name)
  return {
    folder,
    path,
    write(name: string, text: string) {
      mkdirSync(dirname(path(name)), { recursive: true })
      writeFileSync(path(name), text)
      return path(name)
    },
    read: (name: string) => readFileSync(path(name), 'utf8'),
  }
}

/** Answers of one operation that are kept back, once they have had their effect, until the test lets them go. */
export interface Held {
  readonly operation: Operation
  readonly released: AbortSignal
  release(): void
}

export function holding(operation: Operation): Held {
  const hand = new AbortController()
  return { operation, released: hand.signal, release: () => hand.abort() }
}

/** Longer than any client waits. */
const HELD_MS = 600_000

export interface ServiceOptions extends SandboxFixtureOptions {
  readonly held?: Held
}

/** A service that nobody uses by themselves, on the real clock; closed with the test. */
export async function service({ held, ...options }: ServiceOptions = {}): Promise<SandboxFixture> {
  const clock = realClock()
  const sleep: Clock['sleep'] = async (ms, signal) => {
    if (!held) return clock.sleep(ms, signal)
    const isHeld = fixture.calls.log.at(-1)?.operation === held.operation
    if (isHeld) await clock.sleep(ms, AbortSignal.any([held.released, ...(signal ? [signal] : [])]))
  }
  const latency = held && { latency: HELD_MS }
  const fixture: SandboxFixture = await startSandbox({ clock: { ...clock, sleep }, working: false, ...latency, ...options })
  onTestFinished(() => fixture.close())
  return fixture
}

export type Settings = Readonly<Record<string, unknown>>

/** A config file's text: JSON, which is YAML too. */
export const configText = (workspaces: readonly Settings[], more: Settings = {}): string =>
  JSON.stringify({ apiVersion: 'capkeeper/v1', kind: 'Config', ledger: 'ledger.db', ...more, workspaces }, undefined, 1)

/** A workspace as quick as these tests want it, with the key in the file `key`. */
export const workspace = (name: string, url: string, more: Settings = {}): Settings => ({
  name,
  baseUrl: url,
  keys: { default: { file: 'key' } },
  policies: ['policies'],
  interval: '300ms',
  usageInterval: '1s',
  rate: FAST,
  ...more,
})

export interface WorldOptions {
  /** What stands below `spec:` in the one policy, or a whole file. */
  readonly policy?: string
  readonly sandbox?: ServiceOptions
  readonly settings?: Settings
}

/** One workspace called acme on one service. */
export async function world(options: WorldOptions = {}) {
  const at = place()
  const fixture = await service(options.sandbox)
  at.write('key', 'sandbox-admin\n')
  /** Writes the policy file anew. */
  const policy = (text: string): void => void at.write('policies/acme.yaml', text)
  policy(policyText(options.policy ?? 'team: {cap: 500}'))
  const flags = ['--config', at.write('config.yaml', configText([workspace('acme', fixture.url, options.settings)]))]
  return {
    ...at,
    service: fixture,
    flags,
    policy,
    /** Runs a command with this world's config, without a process of its own. */
    run: (...argv: readonly string[]) => inside([...argv, ...flags], { cwd: at.folder }),
    daemon: (argv: readonly string[] = [], more: ProcessOptions = {}) => startDaemon([...flags, ...argv], { cwd: at.folder, ...more }),
  }
}

/** A policy document; lines of `spec` begin at line 5, column 3. */
export const policyText = (spec: string, name = 'acme'): string =>
  `apiVersion: capkeeper/v1\nkind: CapPolicy\nmetadata: {name: ${name}}\nspec:\n${spec
    .split('\n')
    .map((line) => `  ${line}`)
    .join('\n')}\n`

/** The scopes written to a service, in order. */
export const written = ({ calls }: SandboxFixture): readonly string[] =>
  calls.log.filter((call) => call.operation === 'UsageConfig').map(({ body }) => scopeOf(body))

const scopeOf = (body: Readonly<Record<string, unknown>>): string =>
  body['team_level'] === true ? 'team' : String(body['user_email'] ?? `group:${body['group_id']}`)
