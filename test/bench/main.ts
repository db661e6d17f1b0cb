// `npm run bench`: every bench, or those that are named, one after the other, each in a process of its own; at the end one table of all.
import { fork } from 'node:child_process'
import { join } from 'node:path'
import { type Row, tableOf } from './bench.ts'

/** In the order they run; every one is also a program of its own: `node test/bench/NAME.ts`. */
const BENCHES = [
  'house',
  'load',
  'plan',
  'simulate',
  'scrape',
  'console',
  'readers',
  'startup',
  'directory',
  'edit',
  'sandbox',
  'analytics',
  'pacing',
  'pacing-live',
  'apply',
  'cycle',
  'idle',
  'limits',
  'memory',
  'forecast',
  'history',
  'history-live',
  'pools',
  'reading',
  'hostile',
  'replicas',
]

/** Runs one bench; its rows, or undefined when it broke. A number after its name is its argument: a smaller size. */
async function run(name: string, size: readonly string[]): Promise<readonly Row[] | undefined> {
  const child = fork(join(import.meta.dirname, `${name}.ts`), [...size], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  const rows: Row[] = []
  child.on('message', (found) => rows.push(...(found as Row[])))
  const ended = Promise.withResolvers<number | null>()
  child.on('exit', ended.resolve)
  return (await ended.promise) === 0 ? rows : undefined
}

const words = process.argv.slice(2)
const isSize = (word: string | undefined): word is string => word !== undefined && /^\d+$/.test(word)
const sizeOf = (name: string): readonly string[] => [words[words.indexOf(name) + 1]].filter(isSize)
const named = words.filter((word) => !isSize(word))
const unknown = named.filter((name) => !BENCHES.includes(name))
if (unknown.length > 0) {
  console.error(`no bench called ${unknown.join(', ')}; there are ${BENCHES.join(', ')}`)
  process.exitCode = 64
} else {
  const rows: Row[] = []
  const broken: string[] = []
  for (const name of named.length > 0 ? named : BENCHES) {
    const found = await run(name, named.length > 0 ? sizeOf(name) : [])
    if (found) rows.push(...found)
    else broken.push(name)
  }
  if (rows.length > 0) console.log(`\nAll\n\n${tableOf(rows.toSorted((a, b) => Number(a.goal.slice(1)) - Number(b.goal.slice(1))))}`)
  if (broken.length > 0) console.error(`\nbroken: ${broken.join(', ')}`)
  process.exitCode = broken.length > 0 ? 1 : 0
}
