// The documents that are typed off by hand and so are held against the program. It only lists them.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'

const pages = readdirSync(join(import.meta.dirname, '../../docs')).filter((name) => name.endsWith('.md'))

/** Paths of the repository: every document that a user or a developer reads. */
export const DOCUMENTS: readonly string[] = [
  'README.md',
  'ARCHITECTURE.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'deploy/README.md',
  'deploy/RUNBOOK.md',
  ...pages.map((name) => `docs/${name}`),
]
