// Tables in plain text: an entry is a heading, YAML, and what comes of it, a line each after =; a lone = says that nothing does. After -- comes what
// changes by the next cycle: what is not said there stays, and what was remembered is passed on. What begins with `as` has all that a world of the table
// says. Names without an @ are of example.com, p0..9 are ten people, times are from now: -3d, +1h, +5ms. `npx vitest run -u` writes what came of the
// entries into the tables, for review as a change of text.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import type { OwnedCap } from '../../src/core/model/observed.ts'
import { DAY, HOUR, NOW } from './declare.ts'

export type Named<T> = Readonly<Record<string, T>>

const UNITS = { d: DAY, h: HOUR, ms: 1 } as const

export const fromNow = (at: number): string => {
  const [unit, size] = Object.entries(UNITS).find(([, one]) => (at - NOW) % one === 0) ?? ['ms', 1]
  return `${at < NOW ? '' : '+'}${(at - NOW) / size}${unit}`
}
export const clause = (word: string, value: unknown): string => (value === undefined ? '' : `, ${word} ${value}`)

export const entryTold = (entry: OwnedCap['entry']): string => ('cap' in entry ? `${entry.kind} ${entry.cap}` : entry.kind)

/** `500 by grant, grant 500, before 300 of ours`: what the ledger is to remember of a scope. */
export function recordTold({
  cap: own,
  owner,
  entry,
  baseline,
  baselineIsOurs,
  baselineIsNew,
  shows,
  tried,
  written,
  grant,
}: OwnedCap): string {
  const before = `${clause('before', baseline)}${baselineIsOurs ? ' of ours' : ''}${baselineIsNew ? ', new' : ''}`
  const more = `${clause('shows', shows)}${clause('tried', tried)}${written ? ', written' : ''}${grant ? ', of a grant' : ''}`
  return `${own} by ${owner}, ${entryTold(entry)}${before}${more}`
}

function value(_key: unknown, one: unknown): unknown {
  if (typeof one === 'string') {
    const [, amount, unit] = /^([+-]\d+)(d|h|ms)$/.exec(one) ?? []
    return amount === undefined ? one : NOW + Number(amount) * UNITS[unit as keyof typeof UNITS]
  }
  if (typeof one !== 'object' || one === null) return one
  if (Array.isArray(one)) return one.flatMap((each) => (typeof each === 'string' ? people(each) : [each]))
  return Object.fromEntries(Object.entries(one).flatMap(([name, each]) => people(name).map((person) => [person, each])))
}

function people(name: string): readonly string[] {
  const [, from, to] = /^p(\d+)\.\.(\d+)$/.exec(name) ?? []
  return from === undefined ? [name] : Array.from({ length: Number(to) - Number(from) + 1 }, (_, index) => `p${Number(from) + index}`)
}

/** A table in a file: its entries without the mark of a heading, and a check that these are what comes of them. */
export function tableAt(path: string): { readonly entries: readonly string[]; holds(played: readonly string[]): Promise<void> } {
  const [head = '', ...entries] = readFileSync(path, 'utf8').trimEnd().split('\n\n# ')
  return {
    entries,
    async holds(played) {
      await expect(`${[head, ...played].join('\n\n')}\n`).toMatchFileSnapshot(path)
    },
  }
}

const WORLD = 'world: '

/** A test for each table of a folder. `tell` says what comes of a part of an entry, and what the next one is to remember. */
export function playTables<Part extends object, Memory = undefined>(
  folder: string,
  tell: (part: Part, before: Memory | undefined) => readonly [told: readonly string[], memory?: Memory],
): void {
  const read = (text: string): Part & { readonly as?: string } => parse(text, value) ?? {}
  function played(entry: string, worlds: ReadonlyMap<string, Part>): string {
    const [heading = '', ...lines] = entry.split('\n')
    if (heading.startsWith(WORLD)) return `# ${entry}`
    let part = {} as Part
    let memory: Memory | undefined
    const texts = lines.filter((one) => !one.startsWith('=')).join('\n')
    const parts = texts.split('\n--\n').map((text) => {
      const { as, ...said } = read(text)
      if (as !== undefined && !worlds.has(as)) throw new Error(`${heading}: no world is called ${as}`)
      part = { ...part, ...(as !== undefined && worlds.get(as)), ...said }
      const [told, next] = tell(part, memory)
      memory = next
      return [text, ...(told.length === 0 ? ['='] : told.map((one) => `= ${one}`))].join('\n')
    })
    return `# ${heading}\n${parts.join('\n--\n')}`
  }
  test.each(globSync('*.txt', { cwd: folder }))('what comes of each entry of %s is as it is written', async (name) => {
    const { entries, holds } = tableAt(join(folder, name))
    const worlds = new Map(
      entries
        .filter((one) => one.startsWith(WORLD))
        .map((one) => [one.slice(WORLD.length, one.indexOf('\n')), read(one.slice(one.indexOf('\n')))]),
    )
    await holds(entries.map((entry) => played(entry, worlds)))
  })
}
