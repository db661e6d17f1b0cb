// What workspaces of the bench for replicas consist of, the same for the service that answers and for the policies that ask. No state.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Folder, policyText, writeConfig } from '../world.ts'

export const GROUP = 'engineering'

/** `count` names; `kind` keeps those of two ledgers apart. */
export const namesOf = (kind: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, at) => `${kind}${String(at).padStart(4, '0')}`)

export const peopleOf = (workspace: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, at) => `person${at}@${workspace}.example.com`)

/** What policy asks for, and what the service has from the start. */
export const capOf = (key: string): number => (key === 'team' ? 2500 : key === GROUP ? 3000 : 1000 + (key.length % 7))

export interface Settings {
  readonly name: string
  readonly url: string
  readonly ledger: string
  readonly workspaces: readonly string[]
  readonly people: number
  readonly interval: string
}

/** Writes a config with its policies. */
export function configOf(folder: Folder, { name, url, ledger, workspaces, people, interval }: Settings): string {
  mkdirSync(join(folder.path, 'policies'), { recursive: true })
  const policyOf = (one: string): string => {
    const users = peopleOf(one, people).map((email) => ({ email, cap: capOf(email), reason: 'by role' }))
    const spec = { team: { cap: capOf('team') }, groups: [{ id: GROUP, name: GROUP, cap: capOf(GROUP) }], users }
    return folder.write(`policies/${one}.yaml`, policyText(one, spec))
  }
  const all = workspaces.map((one) => ({
    ...{ name: one, baseUrl: `${url}/${one}`, policies: [policyOf(one)], interval },
    guards: { maxAffected: 'off', maxRaise: 'off', breaker: 'off' },
    rate: { start: 1000, max: 1000, concurrency: 2 },
  }))
  return writeConfig(folder, name, ledger, 'a-key', all)
}
