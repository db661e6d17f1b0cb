// What benches work on: a policy over the people of the service, its config, and a folder for both that goes away afterwards.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stringify } from 'yaml'
import type { Place } from './service.ts'

export type Folder = ReturnType<typeof openFolder>

/** Removed at the end of the process. */
export function openFolder() {
  const path = mkdtempSync(join(tmpdir(), 'capkeeper-bench-'))
  process.once('exit', () => rmSync(path, { recursive: true, force: true }))
  return {
    path,
    write(name: string, text: string) {
      writeFileSync(join(path, name), text)
      return join(path, name)
    },
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

/** A policy as a file. */
export const policyText = (workspace: string, spec: object, name = workspace): string =>
  stringify({ apiVersion: 'capkeeper/v1', kind: 'CapPolicy', metadata: { name }, spec: { workspace, ...spec } })

/** The policy that declares them. */
export const policyOf = ({ groups }: Place, declared: readonly Declared[]): string =>
  policyText('bench', {
    team: { cap: 2500 },
    groups: groups.map(({ id, name }) => ({ id, name, cap: GROUP_CAP })),
    users: declared.flatMap(({ key, cap }) => (key.includes('@') ? [{ email: key, cap, reason: 'by role' }] : [])),
  })

/** Writes a config; the pace of each workspace is out of the way, for the services have no limit, and use is read once. */
export const writeConfig = (folder: Folder, name: string, ledger: string, key: string, workspaces: readonly object[]): string => {
  const keys = { default: { file: folder.write('key', key) } }
  const all = workspaces.map((one) => ({ keys, usageInterval: '24h', rate: { start: 1000, max: 1000, concurrency: 8 }, ...one }))
  const config = { apiVersion: 'capkeeper/v1', kind: 'Config', listen: '127.0.0.1:0', ledger, workspaces: all }
  return folder.write(`${name}.yaml`, stringify(config, { aliasDuplicateObjects: false }))
}

/** A config of one workspace with one policy. */
export function configOf({ url, key }: Pick<Place, 'url' | 'key'>, folder: Folder, policy: string, more: object = {}): string {
  const one = { name: 'bench', baseUrl: `${url}/api/v1`, policies: [folder.write('policy.yaml', policy)], ...more }
  return writeConfig(folder, 'capkeeper', join(folder.path, 'capkeeper.db'), key, [one])
}
