#!/usr/bin/env node
// The way in: refuses a Node that is too old in one clear line, then hands over to the CLI. It imports nothing statically, so that
// the refusal is reached before any newer syntax or package is read.
export {}

const NEEDED = 24

if (Number(process.versions.node.split('.')[0]) < NEEDED) {
  process.stderr.write(`capkeeper needs Node ${NEEDED} or newer; this is Node ${process.versions.node}\n`)
  process.exitCode = 64
} else {
  process.getBuiltinModule('node:module').enableCompileCache()
  const { main } = await import('./cli/process.ts')
  process.exitCode = await main(process)
}
