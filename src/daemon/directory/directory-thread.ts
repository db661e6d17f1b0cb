// The thread that reads a people file. It answers with the people who were asked for, and how many others there are.
import { parentPort, workerData } from 'node:worker_threads'
import type { Said } from '../../policy/load/aside.ts'
import { DirectoryError, type DirectorySettings, readDirectory } from './csv.ts'
import type { DirectoryAnswer } from './read.ts'

const { settings, emails }: { readonly settings: DirectorySettings; readonly emails: readonly string[] } = workerData
const say = (said: Said<DirectoryAnswer>): void => parentPort?.postMessage(said)

try {
  const { digest, people } = await readDirectory(settings)
  const asked = new Set(emails)
  const found = new Map([...people].filter(([email]) => asked.has(email)))
  say({ kind: 'answer', answer: { digest, people: found, others: [...people.keys()].filter((email) => !asked.has(email)) } })
} catch (error) {
  const message = error instanceof Error ? error.message : String(error)
  say({ kind: 'answer', answer: { invalid: message, ...(error instanceof DirectoryError && { line: error.line }) } })
}
