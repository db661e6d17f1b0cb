// The kinds of random cases, by name, and how often each is drawn.
import { broken } from './broken.ts'
import { converge } from './converge.ts'
import { guards } from './guards.ts'
import { killed } from './killed.ts'
import type { Kind } from './kind.ts'
import { saved } from './saved.ts'

export const kinds: Readonly<Record<string, Kind>> = { converge, guards, killed, saved, broken }

/** The order of kinds over the seeds: kinds that found most come more often. */
export const turns: readonly string[] = ['converge', 'guards', 'saved', 'killed', 'guards', 'broken', 'converge', 'guards']
