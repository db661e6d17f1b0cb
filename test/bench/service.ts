// The service of the benches, in a process of its own: the embedded service over HTTP, counting calls, with a way to change caps behind
// capkeeper's back. Arguments: latency in milliseconds, people, groups.
import { normaliseEmail, parseScope } from '../../src/core/model/scope.ts'
import { systemClock } from '../../src/daemon/schedule/system.ts'
import { startSandboxServer } from '../../src/sandbox/http/server.ts'
import { createSandbox, SANDBOX_KEYS } from '../../src/sandbox/sandbox.ts'
import { serveRemote } from './remote.ts'

/** Where the service is and whom it knows. */
export interface Place {
  readonly url: string
  readonly key: string
  readonly groups: readonly { readonly id: string; readonly name: string }[]
  /** E-mails of the approved people. */
  readonly people: readonly string[]
}

/** Calls by operation since the last time they were asked for. */
export type Counts = Readonly<Record<string, number>>

const [latency, people, groups] = process.argv.slice(2).map(Number)
const counts: Record<string, number> = {}
const sandbox = createSandbox({
  clock: systemClock,
  company: { people: people ?? 200, groups: groups ?? 8, days: 0, seed: 1 },
  switches: { latency: latency ?? 0 },
  working: false,
  onCall({ operation }) {
    counts[operation] = (counts[operation] ?? 0) + 1
  },
})
const server = await startSandboxServer({ sandbox, host: '127.0.0.1', port: 0 })

serveRemote({
  place: (): Place => ({
    url: server.url,
    key: SANDBOX_KEYS[0]?.secret ?? '',
    groups: sandbox.store.groups(),
    people: sandbox.store
      .people()
      .filter(({ status }) => status === 'APPROVED')
      .map(({ email }) => normaliseEmail(email)),
  }),
  counts(): Counts {
    const seen = { ...counts }
    for (const operation of Object.keys(counts)) delete counts[operation]
    return seen
  },
  /** Somebody else sets these caps. */
  drift: (keys: readonly string[]) => {
    for (const scope of keys.map(parseScope)) if (scope) sandbox.writeCap(scope, 77_777)
  },
  /** Nothing is set anywhere any more. */
  clear: () => {
    for (const { scope } of sandbox.store.caps()) sandbox.writeCap(scope, undefined)
  },
  cpu: () => process.cpuUsage(),
})
