// The texts that `init` writes and prints: config, policy and workflow, from the templates beside this file, and summary; and the files themselves, all or
// none. No key ever comes here, only its place.

import { existsSync, lstatSync, mkdirSync, rmdirSync, statSync, unlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { plain, shellWord } from '../../core/escape/text.ts'
import { messageOf } from '../../core/model/problem.ts'
import type { Instant } from '../../core/model/units.ts'
import type { Adopted } from '../../core/plan/audit.ts'
import type { WorkspaceConfig } from '../../daemon/config/settings.ts'
import type { TokenSource } from '../../files.ts'
import { scalarText } from '../../policy/edit/edit.ts'
import { printPolicy } from '../../policy/print.ts'
import { type Imported, type Live, notesOf, policyOf, succeeds } from '../import.ts'
import { schemaText } from '../schema.ts'
import { CommandError } from '../shared/context.ts'
import { count, dayText, filled, people, VERSION } from '../shared/text.ts'
import { CONFIG_TEMPLATE, POLICY_TEMPLATE, WORKFLOW_TEMPLATE } from './templates.generated.ts'

interface NewFile {
  /** Below the folder, with `/`. */
  readonly path: string
  readonly text: string
}

/** The paths that exist already, dangling links included. */
export const existingIn = (folder: string, paths: readonly string[]): readonly string[] =>
  paths.filter((path) => lstatSync(join(folder, path), { throwIfNoEntry: false }) !== undefined)

/** The path exists and is no folder. */
export const isNoFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === false

/** Creates all files, and replaces none. On an error it throws a `CommandError`, removes what it made, and names what it could not remove. */
export function createFiles(folder: string, files: readonly NewFile[]): void {
  const made: { readonly path: string; readonly remove: (path: string) => void }[] = []
  try {
    for (const { path, text } of files) {
      const target = join(folder, path)
      for (const missing of missingFolders(dirname(target))) {
        mkdirSync(missing)
        made.push({ path: missing, remove: rmdirSync })
      }
      writeFileSync(target, '', { flag: 'wx' })
      made.push({ path: target, remove: unlinkSync })
      writeFileSync(target, text, { flush: true })
    }
  } catch (error) {
    const left = made.toReversed().flatMap(({ path, remove }) => (succeeds(() => remove(path)) ? [] : [path]))
    throw new CommandError(
      `${left.length > 0 ? `${left.join(', ')} could not be removed again` : 'nothing was written'}: ${messageOf(error)}`,
    )
  }
}

/** The folder and its parents that do not exist, outermost first. */
const missingFolders = (folder: string): readonly string[] => (existsSync(folder) ? [] : [...missingFolders(dirname(folder)), folder])

const CONFIG_FILE = 'capkeeper.yaml'
const CONFIG_SCHEMA_FILE = 'capkeeper-config.schema.json'
const POLICY_SCHEMA_FILE = 'policies/cap-policy.schema.json'
const WORKFLOW_FILE = '.github/workflows/capkeeper.yaml'

/** The files whose names do not depend on the workspace. */
export const FIXED_FILES: readonly string[] = [CONFIG_FILE, CONFIG_SCHEMA_FILE, POLICY_SCHEMA_FILE, WORKFLOW_FILE]

/** A name as a file name: `Acme, Inc.` is `acme-inc`; '' when nothing is left. */
export const slugOf = (name: string): string =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .slice(0, 60)

export const policyFile = (workspace: string): string => `policies/${slugOf(workspace)}.yaml`

export interface Start extends Pick<WorkspaceConfig, 'baseUrl' | 'caFile' | 'allowPlainHttp'> {
  readonly workspace: string
  /** As in the config: relative to its folder, or absolute. */
  readonly key: TokenSource
  readonly adopted: Imported
  readonly live: Live
  readonly now: Instant
}

/** All files, the config last: without it nothing uses the others. */
export const filesOf = (start: Start): readonly NewFile[] => [
  { path: POLICY_SCHEMA_FILE, text: schemaText('policy') },
  { path: CONFIG_SCHEMA_FILE, text: schemaText('config') },
  { path: WORKFLOW_FILE, text: filled(WORKFLOW_TEMPLATE, { version: VERSION }) },
  { path: policyFile(start.workspace), text: policyText(start) },
  { path: CONFIG_FILE, text: configText(start) },
]

const configText = ({ workspace, baseUrl, key, caFile, allowPlainHttp }: Start): string =>
  filled(CONFIG_TEMPLATE, {
    workspace: scalarText(workspace),
    baseUrl: scalarText(baseUrl),
    caFile: caFile === undefined ? undefined : scalarText(caFile),
    allowPlainHttp: allowPlainHttp && 'true',
    keyPlace: 'file' in key ? 'file, which is read again when it changes: keep it out of git' : 'variable',
    keyKind: 'file' in key ? 'file' : 'env',
    key: scalarText('file' in key ? key.file : key.env),
  })

const WEEKS_2_MS = 14 * 86_400_000

/** Comments above the sections of a printed policy, by their first line. */
const SECTIONS: Readonly<Record<string, string>> = {
  '  team:': '  # Whole add-on credits per person, for everybody without a cap of a group or their own.',
  '  groups:':
    '  # For the members of a group; `id` is what caps are set on, `name` what lists the members. Without a cap a group is only named, for grants, rules, pools and reports.',
  '  users:': "  # A person's own cap wins over every group's and the team's.",
}

function policyText({ workspace, baseUrl, adopted, now }: Start): string {
  const printed = printPolicy(policyOf(workspace, adopted), { name: workspace, workspace: true })
  const [schema = '', ...declared] = printed.trimEnd().split('\n')
  const body = declared.flatMap((line) => [...(SECTIONS[line] === undefined ? [] : ['', SECTIONS[line]]), line])
  const notes = notesOf({ baseUrl }, adopted)
  const comment = [
    ...notes,
    'It asks for exactly what is in force, so the first plan changes nothing. Change it here, and review the plan.',
  ]
  const lines = [schema, '#', ...comment.map((line) => `# ${plain(line)}`), ...body, ...conflictLines(adopted), ...teamLines(adopted)]
  return filled(POLICY_TEMPLATE, { policy: lines.join('\n'), until: dayText(now + WEEKS_2_MS) })
}

function conflictLines({ conflicts }: Adopted): readonly string[] {
  if (conflicts.length === 0) return []
  return [
    '',
    `  # ${people(conflicts.length)} without an own cap in groups whose caps differ. Until this says which one counts, they are reported and left alone.`,
    '  # onGroupConflict: max',
  ]
}

const teamLines = ({ team }: Adopted): readonly string[] =>
  team === 'none' ? ['', '  # A cap for everybody: whole add-on credits per person.', '  # team:', '  #   cap: 3000'] : []

const ABOUT: Readonly<Record<string, string>> = {
  [CONFIG_FILE]: 'how capkeeper runs; audit mode, nothing is written to the service',
  [CONFIG_SCHEMA_FILE]: 'for editors',
  [POLICY_SCHEMA_FILE]: 'for editors',
  [WORKFLOW_FILE]: 'validates every push and plans every pull request',
}

/** The summary: what was read, the files, and the next three commands. `folder` is as the user typed it. */
export function endingText(start: Start, files: readonly NewFile[], folder: string): string {
  const { workspace, adopted, live } = start
  const declared = (adopted.team === 'none' ? 0 : 1) + adopted.groups.length + adopted.people.length
  const width = Math.max(...files.map(({ path }) => path.length)) + 2
  const listed = files.toReversed().map(({ path }) => `  ${path.padEnd(width)}${ABOUT[path] ?? 'the caps in force, as a policy'}`)
  const config = shellWord(folder === '.' ? CONFIG_FILE : `${folder.replace(/\/+$/, '')}/${CONFIG_FILE}`)
  const next = ['plan', 'collect', 'run'].map((command) => `  capkeeper ${command} --config ${config}`)
  const read = `${plain(workspace)}: ${people(live.people.length)} read, ${count(declared, 'cap')} in force`
  return `${[read, '', `written to ${plain(folder)}:`, ...listed, '', 'next:', ...next].join('\n')}\n`
}
