// What workspaces of the bench for replicas consist of, the same for the service that answers and for the policies that ask. No state.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Folder } from '../world.ts'

export const GROUP = 'engineering'

/** `count` names; `kind` keeps those of two ledgers apart. */
export const namesOf = (kind: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, at) => `${kind}${String(at).padStart(4, '0')}`)

export const peopleOf = (workspace: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, at) => `person${at}@${workspace}.example.com`)

/** What policy asks for, and what the service has from the start. */
export const capOf = (key: string): number => (key === 'team' ? 2500 : key === GROUP ? 3000 : 1000 + (key.length % 7))

const policyOf = (workspace: string, people: number): string =>
  [
    'apiVersion: capkeeper/v1',
    'kind: CapPolicy',
    `metadata: { name: ${workspace} }`,
    'spec:',
    `  workspace: ${workspace}`,
    `  team: { cap: ${capOf('team')} }`,
    `  groups: [{ id: ${GROUP}, name: ${GROUP}, cap: ${capOf(GROUP)} }]`,
    '  users:',
    ...peopleOf(workspace, people).map((email) => `    - { email: ${email}, cap: ${capOf(email)}, reason: by role }`),
    '',
  ].join('\n')

export interface Settings {
  readonly name: string
  readonly url: string
  readonly ledger: string
  readonly workspaces: readonly string[]
  readonly people: number
  readonly interval: string
}

/** Writes a config with its policies; use is read once, and the pace is out of the way. */
export function configOf(folder: Folder, { name, url, ledger, workspaces, people, interval }: Settings): string {
  mkdirSync(join(folder.path, 'policies'), { recursive: true })
  for (const one of workspaces) writeFileSync(join(folder.path, 'policies', `${one}.yaml`), policyOf(one, people))
  const key = folder.write('key', 'a-key')
  return folder.write(
    `${name}.yaml`,
    [
      'apiVersion: capkeeper/v1',
      'kind: Config',
      'listen: 127.0.0.1:0',
      `ledger: ${ledger}`,
      'workspaces:',
      ...workspaces.flatMap((one) => [
        `  - name: ${one}`,
        `    baseUrl: ${url}/${one}`,
        `    keys: { default: { file: ${key} } }`,
        `    policies: [${join(folder.path, 'policies', `${one}.yaml`)}]`,
        `    interval: ${interval}`,
        '    usageInterval: 24h',
        '    guards: { maxAffected: off, maxRaise: off, breaker: off }',
        '    rate: { start: 1000, max: 1000, concurrency: 2 }',
      ]),
      '',
    ].join('\n'),
  )
}
