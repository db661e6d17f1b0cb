// What every replica shows of all workspaces: its own as they are, the others as their holders saved them last; and what a person should know of
// leases. A saved view is bounded, and one that cannot be read is as good as none.
import { createHash } from 'node:crypto'
import { gunzipSync, gzipSync } from 'node:zlib'
import type { Condition, Finding } from '../../core/model/condition.ts'
import type { WorkspaceView } from '../../core/model/events.ts'
import { notice } from '../conditions/notice.ts'
import { viewOf } from '../conditions/view.ts'
import type { Config, WorkspaceConfig } from '../config/settings.ts'
import type { Workspace } from '../workspace.ts'
import { type Leases, leaseOf, type Wanted } from './leases.ts'

/** What is saved of one workspace at most: scopes (those that need attention first) and people. Choice. */
const MOST_SCOPES = 2_000
const MOST_PEOPLE = 5_000
/** A saved view that unpacks to more is none of ours. */
const MOST_BYTES = 16 * 1_048_576

/** The settings of a workspace, but for where this machine finds its policies, keys, secrets and certificates. */
export function configDigest({ policies: _, keys: __, ...settings }: WorkspaceConfig): string {
  const sorted = JSON.stringify(settings, (name, value: unknown) => {
    if (name === 'caFile') return undefined
    if (!isRecord(value)) return value
    return isReference(value) ? {} : Object.fromEntries(Object.entries(value).toSorted())
  })
  return createHash('sha256').update(sorted).digest('hex').slice(0, 12)
}

/** To a secret: see `KeyRef`. */
const isReference = (value: Readonly<Record<string, unknown>>): boolean => /^(file|env)$/.test(Object.keys(value).join())

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const wantedIn = ({ workspaces }: Config): readonly Wanted[] =>
  workspaces.map((one) => ({ workspace: one.name, config: configDigest(one) }))

/** A view as text: compressed, with bounds on its lists. */
export function packView(view: WorkspaceView): string {
  const inSync = view.scopes.length > MOST_SCOPES ? view.scopes.filter(({ state }) => state === 'in_sync') : []
  const scopes =
    inSync.length > 0 ? [...view.scopes.filter(({ state }) => state !== 'in_sync'), ...inSync].slice(0, MOST_SCOPES) : view.scopes
  const people = view.people.slice(0, MOST_PEOPLE)
  const roster = view.roster && { ...view.roster, people: view.roster.people.slice(0, MOST_PEOPLE) }
  return gzipSync(JSON.stringify({ ...view, scopes, people, ...(roster && { roster }) })).toString('base64')
}

interface Packed {
  readonly of: readonly unknown[]
  readonly text: string
}

const packedBefore = new WeakMap<Workspace, Packed>()

/** What a workspace shows, as text; made anew only when something of it was replaced: a replica has many, and asks often. */
export function packed(workspace: Workspace): string {
  const { shown, conditions, pause, burned, undeclared, reading } = workspace
  const of = [shown, conditions, pause, burned, undeclared, reading]
  const before = packedBefore.get(workspace)
  if (before?.of.every((one, at) => one === of[at])) return before.text
  const text = packView(viewOf(workspace))
  packedBefore.set(workspace, { of, text })
  return text
}

/** Undefined for what is no view of this workspace, such as one that another version saved. */
export function unpackView(workspace: string, text: string): WorkspaceView | undefined {
  try {
    const value: unknown = JSON.parse(gunzipSync(Buffer.from(text, 'base64'), { maxOutputLength: MOST_BYTES }).toString())
    return isViewOf(workspace, value) ? value : undefined
  } catch {
    return undefined
  }
}

const LISTS = ['scopes', 'holds', 'approvals', 'groups', 'people', 'conditions'] as const

/** Written by packView of this program: its lists are what pages count on. */
const isViewOf = (workspace: string, value: unknown): value is WorkspaceView =>
  isRecord(value) && value['workspace'] === workspace && LISTS.every((name) => Array.isArray(value[name])) && isRecord(value['grants'])

const emptyView = ({ name, mode }: WorkspaceConfig): WorkspaceView => ({
  workspace: name,
  mode,
  ...{ scopes: [], holds: [], approvals: [], groups: [], people: [], conditions: [] },
  grants: { pending: 0, active: 0, expiring: 0, ended: 0 },
})

interface Known {
  readonly leases: Leases
  readonly elsewhere: ReadonlyMap<string, string>
  /** Of the process, those of workspaces that are not kept here among them. */
  readonly conditions: readonly Condition[]
}

/** Unpacked once for each that was saved. */
const unpacked = new WeakMap<Leases, Map<string, { readonly text: string; readonly view: WorkspaceView | undefined }>>()

function elsewhereView({ leases, elsewhere }: Known, workspace: string): WorkspaceView | undefined {
  const text = elsewhere.get(workspace)
  if (text === undefined) return undefined
  const known = unpacked.get(leases) ?? new Map()
  unpacked.set(leases, known)
  if (known.get(workspace)?.text !== text) known.set(workspace, { text, view: unpackView(workspace, text) })
  return known.get(workspace)?.view
}

/** Every workspace of the configuration; where only this process can hold one, those that run. */
export function viewsOf({ workspaces }: Config, known: Known, running: (name: string) => Workspace | undefined): readonly WorkspaceView[] {
  const { leases } = known
  return workspaces.flatMap((config): readonly WorkspaceView[] => {
    const workspace = running(config.name)
    if (leases.isSole) return workspace ? [viewOf(workspace)] : []
    const before = workspace && !workspace.shown.lastCycle ? elsewhereView(known, config.name) : undefined
    if (workspace) return [before ? underLease(before, workspace.lease?.shown(), workspace.conditions) : viewOf(workspace)]
    const lease = leaseOf(leases, config.name)?.shown()
    const ours = known.conditions.filter(({ subject }) => subject === config.name)
    return [underLease(elsewhereView(known, config.name) ?? emptyView(config), lease && { ...lease, isHere: false }, ours)]
  })
}

/** Of what another replica has shown, only what concerns leases is news here: who holds it, and why not this one, or why nothing is written. */
const underLease = (view: WorkspaceView, lease: WorkspaceView['lease'], conditions: readonly Condition[]): WorkspaceView => ({
  ...view,
  ...(lease && { lease }),
  conditions: [...conditions.filter(isOfLease), ...view.conditions],
})

/** About one workspace on this replica: told where that workspace is shown. */
export const isOfLease = ({ type }: Condition): boolean =>
  type === 'ConfigDiffers' || type === 'WorkspaceNotStarted' || type === 'PolicyReplaced'

/** Those of them that run elsewhere, with their settings here. */
export function elsewhereIn(config: Config, known: Known, running: (name: string) => Workspace | undefined) {
  if (known.leases.isSole) return []
  const settings = new Map(config.workspaces.map((one) => [one.name, one]))
  return viewsOf(config, known, running).flatMap((view) => {
    const own = view.lease?.isHere === false ? settings.get(view.workspace) : undefined
    return own ? [{ settings: own, view }] : []
  })
}

/** Why workspaces of the configuration are not kept here. */
export function leaseFindings(
  { workspaces }: Config,
  { leases, failed }: { readonly leases: Leases; readonly failed: ReadonlyMap<string, string> },
): readonly Finding[] {
  return workspaces.flatMap(({ name }): readonly Finding[] => {
    const { refused } = leases.statusOf(name)
    const why = failed.get(name)
    return [...(refused ? [differing(name, refused)] : []), ...(why === undefined ? [] : [notStarted(name, why)])]
  })
}

/** Whether a workspace that is kept here may be written. It is noticed only when it is another than before: what is shown of it is made anew then. */
export function noticeLease({ isReplaced }: Leases, workspace: Workspace): void {
  const { name } = workspace.config
  const lease = isReplaced(name) ? [replaced(name)] : []
  if (lease.length !== (workspace.findings.lease?.length ?? 0)) notice(workspace, { lease })
}

const differing = (
  workspace: string,
  { ours, theirs, holder }: { readonly ours: string; readonly theirs: string; readonly holder: string },
): Finding => ({
  type: 'ConfigDiffers',
  subject: workspace,
  reason: 'CONFIG_DIFFERS',
  message: `${workspace}: ${holder} keeps it under settings ${theirs}, here they are ${ours}; this replica leaves it alone until both have one configuration`,
  version: `${ours} ${theirs}`,
})

const replaced = (workspace: string): Finding => ({
  type: 'PolicyReplaced',
  subject: workspace,
  reason: 'POLICY_REPLACED',
  message: `${workspace}: another replica has had newer policies than this one, which writes nothing until its files follow, or all live replicas have had these for 10 min`,
})

const notStarted = (workspace: string, why: string): Finding => ({
  type: 'WorkspaceNotStarted',
  subject: workspace,
  reason: 'WORKSPACE_NOT_STARTED',
  message: `${workspace} cannot be kept by this replica: ${why}`,
  version: why,
})
