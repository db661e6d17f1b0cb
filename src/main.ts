#!/usr/bin/env node
// The entry point: refuses a Node that is too old, then starts the CLI. It imports nothing statically, because newer syntax or a package
// would fail before the refusal is printed.
export {}

const NEEDED = 24

/** Ends a long-running command at once, with 0, while it does not handle signals itself yet: it has done nothing by then. */
function listenEarly(): void {
  const [command = '', ...flags] = process.argv.slice(2)
  if (!['run', 'sandbox'].includes(command) || flags.includes('--once')) return
  const end = (name: NodeJS.Signals): void => {
    if (process.listenerCount(name) === 1) process.exit()
  }
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, end)
  // On a terminal a hangup means that the terminal was closed. Elsewhere it asks for a reload, and nothing is loaded yet.
  if (command === 'run' && !process.getBuiltinModule('node:tty').isatty(0)) process.on('SIGHUP', () => undefined)
}

/** Git does not keep what is made from other sources: it is made anew when one of them is newer. The built program has all of it. */
function makeSources(): void {
  if (!import.meta.filename.endsWith('.ts')) return
  const { readdirSync, statSync } = process.getBuiltinModule('node:fs')
  const timeOf = (file: string): number => statSync(`${import.meta.dirname}/${file}`, { throwIfNoEntry: false })?.mtimeMs ?? 0
  // The last one that is made.
  const madeAt = timeOf('console/browser.generated.ts')
  const files = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' }).filter((path) => path.includes('.'))
  if (!files.some((file) => timeOf(file) > madeAt)) return
  const argv = ['--no-warnings', `${import.meta.dirname}/../deploy/sources.ts`]
  process.getBuiltinModule('node:child_process').spawnSync(process.execPath, argv, { stdio: ['ignore', 'ignore', 'inherit'] })
}

if (Number(process.versions.node.split('.')[0]) < NEEDED) {
  process.stderr.write(`capkeeper needs Node ${NEEDED} or newer; this is Node ${process.versions.node}\n`)
  process.exitCode = 64
} else {
  listenEarly()
  // Before the first read. Reads that never end must leave threads for others, and for the names of hosts.
  process.env['UV_THREADPOOL_SIZE'] ??= '16'
  process.getBuiltinModule('node:module').enableCompileCache()
  // Stacks are shown with it alone; to read the maps of the built program takes time and memory.
  if (process.env['CAPKEEPER_DEBUG']) process.setSourceMapsEnabled(true)
  makeSources()
  const { main } = await import('./cli/process.ts')
  process.exitCode = await main(process)
}
