// Pieces of text that all renderings share: counts, caps, instants, padding and wrapping, documents, the version. Text from outside must be
// escaped (core/escape/text.ts) before it comes here.

import { readFileSync } from 'node:fs'
import { findPackageJSON } from 'node:module'
import { dirname } from 'node:path'
import { jsonText, plain } from '../../core/escape/text.ts'
import type { Cap } from '../../core/model/policy.ts'
import { count, type Instant, span } from '../../core/model/units.ts'
import { API_VERSION } from '../../policy/bounds.ts'
import type { Cli } from './context.ts'
import { takeOffScreen } from './progress.ts'

export { count, span }

export const people = (amount: number): string => count(amount, 'person', 'people')

export const capText = (cap: Cap | 'unknown'): string => String(cap)

/** An amount of credits, to a hundredth. */
export const amountText = (credits: number): string => String(Number(credits.toFixed(2)))

/** Lines of at most `width` columns, broken at spaces; a word longer than that stays whole. */
export function wrap(text: string, width: number): readonly string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ').filter((one) => one !== '')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line)
      line = word
    } else {
      line = line === '' ? word : `${line} ${word}`
    }
  }
  return line === '' ? lines : [...lines, line]
}

/** RFC 3339 in UTC, to the millisecond, for documents that machines read. */
export const rfc3339 = (at: Instant): string => new Date(at).toISOString()

/** `2026-11-20`. */
export const dayText = (at: Instant): string => rfc3339(at).slice(0, 10)

/** `2026-11-20 12:00:05Z`, for people. */
export const shortTime = (at: Instant): string => `${rfc3339(at).slice(0, 19).replace('T', ' ')}Z`

/** The lines that there are: a condition stands before each that may be missing. */
export const present = (...parts: readonly (string | readonly string[] | false | undefined)[]): readonly string[] =>
  parts.flat().filter((part) => part !== false && part !== undefined)

/** Blocks of lines, a blank line between them; empty blocks are left out. */
export const blocksText = (blocks: readonly (readonly string[])[]): string =>
  blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => `${lines.join('\n')}\n`)
    .join('\n')

/** Rows as columns two spaces apart, without blanks at their ends. Columns that `isNumber` names are aligned right. */
export function columns(rows: readonly (readonly string[])[], isNumber: (column: number) => boolean = () => false): readonly string[] {
  const widths: number[] = []
  for (const row of rows) for (const [index, cell] of row.entries()) widths[index] = Math.max(widths[index] ?? 0, cell.length)
  return rows.map((row) =>
    row
      .map((cell, index) => (isNumber(index) ? cell.padStart(widths[index] ?? 0) : cell.padEnd(widths[index] ?? 0)))
      .join('  ')
      .trimEnd(),
  )
}

/** `{apiVersion, kind, …fields}`. A number under `at` or a name that ends with `At` is an instant. */
export const documentText = (kind: string, fields: object): string =>
  jsonText({ apiVersion: API_VERSION, kind, ...fields }, (key, value) =>
    (key === 'at' || key.endsWith('At')) && typeof value === 'number' ? rfc3339(value) : value,
  )

/** The document of the one workspace that was asked for; where several were, a list of those that could be answered (choice). */
export const documentOrList = (kind: string, items: readonly object[], asked: number): string =>
  asked === 1 && items[0]
    ? documentText(kind, items[0])
    : documentText(`${kind}List`, { items: items.map((one) => ({ apiVersion: API_VERSION, kind, ...one })) })

/** The value of a text in JSON; undefined where it is none. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const file = findPackageJSON(import.meta.url)
const manifest: unknown = file === undefined ? undefined : JSON.parse(readFileSync(file, 'utf8'))

/** Such as `0.1.0`; also in `User-Agent: capkeeper/VERSION` and in `capkeeper_build_info`. */
export const VERSION: string =
  typeof manifest === 'object' && manifest !== null && 'version' in manifest ? String(manifest.version) : 'unknown'

/** The folder of the package, in which a checkout has its `.git`. */
export const PACKAGE_FOLDER = file === undefined ? '.' : dirname(file)

export const tellLine = (cli: Pick<Cli, 'stderr' | 'secrets'>, line: string): void => {
  takeOffScreen(cli.stderr)
  cli.stderr.write(`${plain(cli.secrets.redact(line))}\n`)
}

/** A template with its values; a line whose value is not known is left out. */
export const filled = (template: string, values: Readonly<Record<string, string | undefined>>): string =>
  template
    .replace(/^.*__(\w+)__\n/gm, (line, name: string) => (values[name] === undefined ? '' : line))
    .replace(/__([a-z]+)__/gi, (_place, name: string) => values[name] ?? '')
