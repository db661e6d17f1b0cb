// What benches over HTTP work on: a policy over the people of the service, its config, and a folder for both that goes away afterwards.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Place } from './service.ts'

export interface Folder {
  readonly path: string
  write(name: string, text: string): string
  remove(): void
}

export function openFolder(): Folder {
  const path = mkdtempSync(join(tmpdir(), 'capkeeper-bench-'))
  return {
    path,
    write(name, text) {
      writeFileSync(join(path, name), text)
      return join(path, name)
    },
    remove: () => rmSync(path, { recursive: true, force: true }),
  }
}

/** What is declared at one scope, by its key. */
export interface Declared {
  readonly key: string
  readonly cap: number
}

const GROUP_CAP = 3000

/** `count` scopes: the team, every group, and as many people as it takes. */
export function declaredAt({ groups, people }: Place, count: number): readonly Declared[] {
  const wide = [{ key: 'team', cap: 2500 }, ...groups.map(({ id }) => ({ key: `group:${id}`, cap: GROUP_CAP }))]
  const users = people.slice(0, count - wide.length).map((key, at) => ({ key, cap: 1000 + (at % 900) }))
  if (wide.length + users.length < count) throw new Error(`the service has ${people.length} people, too few for ${count} scopes`)
  return [...wide, ...users]
}

/** The policy that declares them. */
export function policyOf({ groups }: Place, declared: readonly Declared[]): string {
  const users = declared
    .filter(({ key }) => key.includes('@'))
    .map(({ key, cap }) => `    - { email: ${key}, cap: ${cap}, reason: by role }`)
  return [
    'apiVersion: capkeeper/v1',
    'kind: CapPolicy',
    'metadata: { name: bench }',
    'spec:',
    '  workspace: bench',
    '  team: { cap: 2500 }',
    '  groups:',
    ...groups.map(({ id, name }) => `    - { id: ${id}, name: ${name}, cap: ${GROUP_CAP} }`),
    '  users:',
    ...users,
    '',
  ].join('\n')
}

/** A config that keeps its pace out of the way: the sandbox has no limit. Use is read once. */
export const configOf = ({ url, key }: Place, folder: Folder, policy: string): string =>
  folder.write(
    'capkeeper.yaml',
    [
      'apiVersion: capkeeper/v1',
      'kind: Config',
      'listen: 127.0.0.1:0',
      `ledger: ${join(folder.path, 'capkeeper.db')}`,
      'workspaces:',
      '  - name: bench',
      `    baseUrl: ${url}/api/v1`,
      `    keys: { default: { file: ${folder.write('key', key)} } }`,
      `    policies: [${folder.write('policy.yaml', policy)}]`,
      '    usageInterval: 24h',
      '    rate: { start: 1000, max: 1000, concurrency: 8 }',
      '',
    ].join('\n'),
  )
