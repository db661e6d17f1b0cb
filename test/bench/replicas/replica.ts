// One `run` in a process of its own, exactly as users have it; beside it this process counts cycles from the log and times what goes to
// PostgreSQL. Arguments: the flags of `run`.
import { Writable } from 'node:stream'
import { Client } from 'pg'
import { runCli } from '../../../src/cli/program.ts'
import { createSecrets, type World } from '../../../src/cli/shared/context.ts'
import { systemClock } from '../../../src/daemon/schedule/system.ts'
import { serveRemote } from '../remote.ts'

/** What one replica has done since it was asked last. */
export interface Done {
  readonly cycles: number
  readonly errors: number
  readonly cpuMs: number
  readonly rssKib: number
  /** From the sending of an intent until it is durable, in milliseconds. */
  readonly intents: readonly number[]
}

/** When the last cycle of each workspace ended, on the wall clock. */
const endedAt = new Map<string, number>()
let cycles = 0
let errors = 0
let intents: number[] = []
let cpu = process.cpuUsage()

const stderr = new Writable({
  decodeStrings: false,
  write(text: string | Buffer, _encoding, done) {
    for (const line of String(text).split('\n')) {
      if (line.includes('"cycle ')) note(JSON.parse(line))
      else if (process.env['BENCH_LOG'] && line !== '') process.stderr.write(`${line}\n`)
    }
    done()
  },
})

function note({ workspace, result }: { readonly workspace: string; readonly result: string }): void {
  cycles += 1
  if (result === 'error') errors += 1
  endedAt.set(workspace, Date.now())
}

/** An intent is one statement, which is a transaction of its own. */
function listen(): void {
  const { query } = Client.prototype
  Client.prototype.query = function (this: Client, ...args: Parameters<typeof query>) {
    const [question] = args as readonly unknown[]
    const sql = typeof question === 'object' && question !== null && 'text' in question ? question.text : question
    const sentAt = performance.now()
    const answer: unknown = Reflect.apply(query, this, args)
    if (typeof sql === 'string' && sql.includes('INSERT INTO capkeeper.intent') && answer instanceof Promise)
      void answer.then(() => intents.push(performance.now() - sentAt), ignore)
    return answer
  } as typeof query
}

const ignore = (): void => undefined

const handlers: Record<string, () => void> = {}

const world: World = {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr,
  env: process.env,
  clock: systemClock,
  secrets: createSecrets(),
  signals: {
    on(kind, handler) {
      handlers[kind] = handler
      return ignore
    },
    exit: (code) => process.exit(code),
  },
}

listen()
process.on('SIGTERM', () => handlers['interrupt']?.())

serveRemote({
  pid: () => process.pid,
  start: () => void runCli(process.argv.slice(2), world).finally(() => process.exit()),
  done(): Done {
    const { user, system } = process.cpuUsage(cpu)
    const seen = { cycles, errors, cpuMs: (user + system) / 1000, rssKib: process.memoryUsage.rss() / 1024, intents }
    cycles = 0
    errors = 0
    intents = []
    cpu = process.cpuUsage()
    return seen
  },
  endedAt: () => Object.fromEntries(endedAt),
})
