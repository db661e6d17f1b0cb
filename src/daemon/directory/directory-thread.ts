// The thread that parses a people file. It opens no path. It answers with the people who were asked for, and how many others there are.
import { parentPort, workerData } from 'node:worker_threads'
import type { Said } from '../../policy/load/aside.ts'
import { DirectoryError, type DirectorySettings, parseDirectory } from './csv.ts'
import type { ThreadAnswer } from './read.ts'

interface Data {
  readonly settings: DirectorySettings
  readonly bytes: Uint8Array
  readonly emails: string
}

const { settings, bytes, emails }: Data = workerData
const say = (said: Said<ThreadAnswer>): void => parentPort?.postMessage(said)

const othersIn = (rowOf: ReadonlyMap<string, number>, asked: ReadonlySet<string>): readonly string[] =>
  [...rowOf.keys()].filter((email) => !asked.has(email))

try {
  const { digest, rowOf, valuesOf, values } = await parseDirectory(settings, bytes)
  const asked = emails === '' ? [] : emails.split('\n')
  const rows = Int32Array.from(asked, (email) => valuesOf[rowOf.get(email) ?? -1] ?? -1)
  const found = rows.reduce((count, row) => count + Number(row >= 0), 0)
  const others = found === rowOf.size ? '' : othersIn(rowOf, new Set(asked)).join('\n')
  say({ kind: 'answer', answer: { digest, rows, values, others } })
} catch (error) {
  if (!(error instanceof DirectoryError)) throw error
  say({ kind: 'answer', answer: { invalid: error.message, line: error.line } })
}
