#!/usr/bin/env node
// The way in: refuses a Node that is too old in one clear line, then hands over to the CLI. It imports nothing statically, so that
// the refusal is reached before any newer syntax or package is read.
export {}

const NEEDED = 24

/** Until a command that stays listens itself: it has done nothing yet, so it ends at once, and well. */
function listenEarly(): void {
  const [command = '', ...flags] = process.argv.slice(2)
  if (!['run', 'sandbox'].includes(command) || flags.includes('--once')) return
  const end = (name: NodeJS.Signals): void => {
    if (process.listenerCount(name) === 1) process.exit()
  }
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, end)
  // On a terminal a hangup means that the terminal was closed; elsewhere the daemon is to read again what it has not read yet.
  if (command === 'run' && !process.getBuiltinModule('node:tty').isatty(0)) process.on('SIGHUP', () => undefined)
}

if (Number(process.versions.node.split('.')[0]) < NEEDED) {
  process.stderr.write(`capkeeper needs Node ${NEEDED} or newer; this is Node ${process.versions.node}\n`)
  process.exitCode = 64
} else {
  listenEarly()
  process.getBuiltinModule('node:module').enableCompileCache()
  const { main } = await import('./cli/process.ts')
  process.exitCode = await main(process)
}
