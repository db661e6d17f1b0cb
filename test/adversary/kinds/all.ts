// The kinds of random cases, by name, and how often each is drawn.
import { broken } from './broken.ts'
import { converge } from './converge.ts'
import { copied } from './copied.ts'
import { daemon } from './daemon.ts'
import { faults } from './faults.ts'
import { foreign } from './foreign.ts'
import { grants } from './grants.ts'
import { guards } from './guards.ts'
import { inherited } from './inherited.ts'
import { killed } from './killed.ts'
import type { Kind } from './kind.ts'
import { saved } from './saved.ts'

export const kinds: Readonly<Record<string, Kind>> = {
  converge,
  guards,
  killed,
  faults,
  saved,
  foreign,
  grants,
  inherited,
  copied,
  broken,
  daemon,
}

/** The order of kinds over the seeds: kinds that found most come more often. */
export const turns: readonly string[] = [
  'converge',
  'guards',
  'saved',
  'killed',
  'converge',
  'guards',
  'foreign',
  'inherited',
  'broken',
  'guards',
  'faults',
  'copied',
  'grants',
  'converge',
  'daemon',
]
