// The program as it is published: built into dist, run on the Node that runs the bench.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '..', '..')

export const MAIN = join(ROOT, 'dist', 'main.js')

/** Builds the program. Throws when it cannot be built. */
export function build(): void {
  const { status, stderr } = spawnSync(process.execPath, ['--no-warnings', 'deploy/build.ts'], { cwd: ROOT, encoding: 'utf8' })
  if (status !== 0) throw new Error(`the program cannot be built:\n${stderr}`)
}

/** Wall and CPU milliseconds of a command with all its children, as bash's `time` tells them. */
export function timeOf(
  command: string,
  env: Readonly<Record<string, string>> = {},
): { readonly wallMs: number; readonly cpuMs: number; readonly output: string } {
  const script = `TIMEFORMAT='times %3R %3U %3S'; time { ${command}; }`
  const { status, stdout, stderr } = spawnSync('bash', ['-c', script], { cwd: ROOT, encoding: 'utf8', env: { ...process.env, ...env } })
  const [, real, user, system] = /times ([\d.]+) ([\d.]+) ([\d.]+)/.exec(stderr) ?? []
  if (status !== 0 || real === undefined) throw new Error(`${command} ended with ${status}:\n${stdout}${stderr}`)
  return { wallMs: Number(real) * 1000, cpuMs: (Number(user) + Number(system)) * 1000, output: stdout }
}

/** Whether a program is installed. */
export const isInstalled = (name: string): boolean => spawnSync(name, ['--version'], { stdio: 'ignore' }).status === 0
