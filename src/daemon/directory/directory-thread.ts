// The thread that reads a people file. It answers with the people who were asked for, and how many others there are.
import { parentPort, workerData } from 'node:worker_threads'
import type { Said } from '../../policy/load/aside.ts'
import { whyUnread } from '../../policy/load/files.ts'
import { DirectoryError, type DirectorySettings, readDirectory } from './csv.ts'
import type { ThreadAnswer } from './read.ts'

const { settings, emails }: { readonly settings: DirectorySettings; readonly emails: string } = workerData
const say = (said: Said<ThreadAnswer>): void => parentPort?.postMessage(said)

const othersIn = (rowOf: ReadonlyMap<string, number>, asked: ReadonlySet<string>): readonly string[] =>
  [...rowOf.keys()].filter((email) => !asked.has(email))

try {
  const { digest, rowOf, valuesOf, values } = await readDirectory(settings)
  const asked = emails === '' ? [] : emails.split('\n')
  const rows = Int32Array.from(asked, (email) => valuesOf[rowOf.get(email) ?? -1] ?? -1)
  const found = rows.reduce((count, row) => count + Number(row >= 0), 0)
  const others = found === rowOf.size ? '' : othersIn(rowOf, new Set(asked)).join('\n')
  say({ kind: 'answer', answer: { digest, rows, values, others } })
} catch (error) {
  const answer = error instanceof DirectoryError ? { invalid: error.message, line: error.line } : { invalid: whyUnread(error) }
  say({ kind: 'answer', answer })
}
