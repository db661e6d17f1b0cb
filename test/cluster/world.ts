// What a scene has at hand: the cluster's commands, the guide's own lines, and waiting with an end. Whatever is not as it should be is thrown, with
// what the commands said.
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { realClock } from '../support/real-clock.ts'

const clock = realClock()

export const ROOT = join(import.meta.dirname, '../..')
const GUIDE = readFileSync(join(ROOT, 'deploy/README.md'), 'utf8')
/** Generous: other work of the machine may hold it up. */
const WITHIN_MS = 240_000

/** How a command ended. */
export interface Said {
  readonly status: number
  readonly said: string
}

export type World = ReturnType<typeof createWorld>

/** Plays, each by the sentence that says what has to come out. */
export type Scenes = Readonly<Record<string, (world: World) => Promise<void>>>

/** The alias that the guide gives its readers, as a function: aliases are not expanded in scripts. */
const ALIAS = `capkeeper() { kubectl -n capkeeper exec -i capkeeper-0 -- capkeeper "$@"; }`

export function createWorld(folder: string, kubeconfig: string, say: (line: string) => void) {
  const env = {
    ...process.env,
    KUBECONFIG: kubeconfig,
    HELM_CACHE_HOME: join(folder, '.helm'),
    HELM_CONFIG_HOME: join(folder, '.helm'),
    HELM_DATA_HOME: join(folder, '.helm'),
  }
  /** Runs a program; any end is an answer. */
  const attempt = (program: string, ...argv: readonly string[]): Said => {
    const { status, stdout, stderr } = spawnSync(program, argv, {
      cwd: folder,
      env,
      encoding: 'utf8',
      timeout: 5 * 60_000,
      maxBuffer: 64 * 1024 * 1024,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    return { status: status ?? -1, said: `${stdout}${stderr}` }
  }
  /** Runs a program that has to succeed; gives what it said. */
  const run = (program: string, ...argv: readonly string[]): string => {
    const { status, said } = attempt(program, ...argv)
    if (status !== 0) throw new Error(`${program} ${argv.join(' ')} ended with ${status}: ${said}`)
    return said
  }
  return {
    /** Where the commands run; files that the guide speaks of lie here, and `deploy` leads to this checkout's. */
    folder,
    /** Says what was seen, for the log. */
    say,
    try: attempt,
    run,
    /** Runs a line of deploy/README.md, to the letter, as the reader's shell would, in the folder or one below; it has to stand there and to succeed. */
    guide(line: string, below = '.') {
      const stands = GUIDE.includes(`\`${line}\``) || GUIDE.split('\n').some((one) => one.trim() === line)
      if (!stands) throw new Error(`deploy/README.md has no line: ${line}`)
      return run('bash', '-c', `set -euo pipefail; ${ALIAS}; cd ${below}; ${line}`)
    },
    /** Writes a file into the folder; what is no text is written as YAML. */
    write: (name: string, content: unknown) =>
      writeFileSync(join(folder, name), typeof content === 'string' ? content : stringify(content)),
    /** Waits until something is so, asking again and again; gives what was found. */
    async until<T>(what: string, find: () => T | undefined): Promise<T> {
      const end = clock.monotonic() + WITHIN_MS
      for (;;) {
        const found = find()
        if (found !== undefined) return found
        if (clock.monotonic() > end) throw new Error(`${what} did not come about within ${WITHIN_MS / 1000} s`)
        await clock.sleep(1000)
      }
    },
  }
}

/** Throws unless it is so. */
export function must(isSo: boolean, what: string): void {
  if (!isSo) throw new Error(`not so: ${what}`)
}
