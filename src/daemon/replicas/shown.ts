// The views of all workspaces on every replica: its own as they are, the others as their holders saved them last. Also the conditions about
// leases. A saved view is bounded, and ignored when it cannot be read.
import { createHash } from 'node:crypto'
import { gunzipSync, gzipSync } from 'node:zlib'
import type { Condition, Finding } from '../../core/model/condition.ts'
import type { WorkspaceView } from '../../core/model/events.ts'
import { onceFor } from '../../core/model/once.ts'
import type { HeldWorkspace } from '../../core/replicas/lease.ts'
import { finding } from '../conditions/findings.ts'
import { viewOf } from '../conditions/view.ts'
import type { Config, WorkspaceConfig } from '../config/settings.ts'
import { notice, type Workspace } from '../workspace.ts'
import { inForce, type LeaseStatus, type Leases, leaseOf, type State, saySame, type Wanted } from './leases.ts'

// Shares between replicas, beside leases, the policies of each and the views of their workspaces. It does not decide who holds a workspace.

/** Old policies count again when every live replica with the workspace has had them for so long (docs/replicas.md). */
const READOPT_MS = 600_000
export const READOPT_EVERY_MS = 20_000
export const SHOW_EVERY_MS = 9_000
/** Views in one write: making them ready blocks this process. */
const SHOWN_AT_ONCE = 20
const READ_SHOWN_EVERY_MS = 2_000

/** Tells the other replicas which policies this one has. */
export async function report(state: State): Promise<void> {
  const { policies, table, replica, latest, clock } = state
  const known = await table.followed(replica.id, policies)
  for (const [workspace, policy] of known) latest.set(workspace, policy)
  state.told = policies
  state.toldAt = clock.monotonic()
}

export async function readopt(state: State): Promise<void> {
  const { table, latest, held } = state
  let news = false
  for (const workspace of held.keys()) {
    const policy = inForce(state, workspace)
    if (policy === undefined || saySame(latest.get(workspace), policy)) continue
    if (!(await table.readopt(workspace, policy, READOPT_MS))) continue
    latest.set(workspace, policy)
    news = true
  }
  if (news) state.hooks?.policiesSettled()
}

export async function show({ held, hooks, table, replica, saved }: State): Promise<void> {
  const news: (HeldWorkspace & { readonly document: string })[] = []
  const save = async (): Promise<void> => {
    if (news.length === 0) return
    const shown = news.splice(0)
    await table.saveShown(replica.id, shown)
    for (const { workspace, document } of shown) saved.set(workspace, document)
  }
  for (const [workspace, { token }] of held) {
    const document = hooks?.document(workspace)
    if (document === undefined || saved.get(workspace) === document) continue
    news.push({ workspace, token, document })
    if (news.length >= SHOWN_AT_ONCE) await save()
  }
  await save()
}

export async function shownElsewhere(state: State): Promise<ReadonlyMap<string, string>> {
  const { clock, due, table, shown, held, hooks } = state
  if (clock.monotonic() >= due.readShown) {
    due.readShown = clock.monotonic() + READ_SHOWN_EVERY_MS
    const news = await table.shownSince(state.shownMark).catch(() => undefined)
    if (news) {
      state.shownMark = news.mark
      for (const [workspace, document] of news.documents) {
        if (!held.has(workspace) && shown.get(workspace) !== document) hooks?.seen(workspace)
        shown.set(workspace, document)
      }
    }
  }
  return shown
}

/** An unpacked part of a view of more bytes was not saved by capkeeper: so long may the service's list of people be. */
const MAX_BYTES = 64 * 1_048_576

/** Where things are on this machine, and where an envelope stands in the config. */
const NO_SETTINGS: ReadonlySet<string> = new Set(['policies', 'file', 'caFile', 'at'])

/** A digest of a workspace's settings, without the places of policies, keys, secrets and certificates on this machine. */
function configDigest({ keys: _, ...settings }: WorkspaceConfig): string {
  const sorted = JSON.stringify(settings, (name, value: unknown) => {
    if (NO_SETTINGS.has(name)) return undefined
    if (!isRecord(value)) return value
    return isReference(value) ? {} : Object.fromEntries(Object.entries(value).toSorted())
  })
  return createHash('sha256').update(sorted).digest('hex').slice(0, 12)
}

/** Whether a setting refers to a secret: see `TokenSource`. */
const isReference = (value: Readonly<Record<string, unknown>>): boolean => /^(file|env)$/.test(Object.keys(value).join())

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const wantedIn = ({ workspaces }: Config): readonly Wanted[] =>
  workspaces.map((one) => ({ workspace: one.name, config: configDigest(one) }))

/** Quick rather than small, because it blocks this process. */
const packPart = onceFor((part: object) => gzipSync(JSON.stringify(part), { level: 1 }).toString('base64'))

/** A view as compressed text. Its largest parts are packed and unpacked apart, because they often stay the same. */
const packView = ({ scopes, people, roster, ...rest }: WorkspaceView): string =>
  [rest, scopes, people, ...(roster ? [roster] : [])].map(packPart).join(' ')

const packedBefore = new WeakMap<Workspace, { readonly of: readonly unknown[]; readonly text: string }>()

/** A workspace's view as text, made again only after a part of it was replaced: a replica has many workspaces, and asks often. */
export function packed(workspace: Workspace): string {
  const { shown, conditions, pause, burned, undeclared, reading } = workspace
  const of = [shown, conditions, pause, burned, undeclared, reading]
  const before = packedBefore.get(workspace)
  if (before?.of.every((one, at) => one === of[at])) return before.text
  const text = packView(viewOf(workspace))
  packedBefore.set(workspace, { of, text })
  return text
}

/** Undefined for a text that is no part of a view. */
function unpackPart(text: string): unknown {
  try {
    return JSON.parse(gunzipSync(Buffer.from(text, 'base64'), { maxOutputLength: MAX_BYTES }).toString())
  } catch {
    return undefined
  }
}

const LISTS = ['scopes', 'holds', 'approvals', 'groups', 'people', 'conditions'] as const

/** Checks the lists that pages need; the rest was written by `packView`. */
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
  /** The conditions of the process, with those of workspaces that are not kept here. */
  readonly conditions: readonly Condition[]
}

/** A saved view with its parts: those that it had before are not unpacked again. */
function unpackView(workspace: string, text: string, before = { text: '', parts: [] as readonly unknown[] }) {
  const last = before.text.split(' ')
  const parts = text.split(' ', 4).map((one, at) => (one === last[at] ? before.parts[at] : unpackPart(one)))
  const [rest, scopes, people, roster] = parts
  const view: unknown = Object.assign({}, rest, { scopes, people, roster })
  return { text, parts, view: isViewOf(workspace, view) ? view : undefined }
}

const unpacked = new WeakMap<Leases, Map<string, ReturnType<typeof unpackView>>>()

function elsewhereView({ leases, elsewhere }: Known, workspace: string): WorkspaceView | undefined {
  const text = elsewhere.get(workspace)
  if (text === undefined) return undefined
  const known = unpacked.get(leases) ?? new Map()
  unpacked.set(leases, known)
  if (known.get(workspace)?.text !== text) known.set(workspace, unpackView(workspace, text, known.get(workspace)))
  return known.get(workspace)?.view
}

/** The views of all configured workspaces; without leases only of those that run. */
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

/** Another replica's view, with the lease and the conditions about leases as they are here. */
const underLease = (view: WorkspaceView, lease: WorkspaceView['lease'], conditions: readonly Condition[]): WorkspaceView => ({
  ...view,
  ...(lease && { lease }),
  conditions: [...conditions.filter(isOfLease), ...view.conditions],
})

/** A condition about a workspace on this replica; it is shown with the workspace. */
export const isOfLease = ({ type }: Condition): boolean =>
  type === 'ConfigDiffers' || type === 'WorkspaceNotStarted' || type === 'PolicyReplaced'

/** The views of workspaces that other replicas hold, with their settings here. One that was lost shows as it ran until its end here. */
export function elsewhereIn(config: Config, known: Known, running: (name: string) => Workspace | undefined) {
  if (known.leases.isSole) return []
  const settings = new Map(config.workspaces.map((one) => [one.name, one]))
  return viewsOf(config, known, running).flatMap((view) => {
    const own = view.lease?.isHere === false && !running(view.workspace) ? settings.get(view.workspace) : undefined
    return own ? [{ settings: own, view }] : []
  })
}

/** Why configured workspaces are not kept here. */
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

/** Notices whether a workspace that is kept here may be written, but only after a change: noticing makes the view again. */
export function noticeLease({ isReplaced }: Leases, workspace: Workspace): void {
  const { name } = workspace.config
  const lease = isReplaced(name) ? [replaced(name)] : []
  if (lease.length !== (workspace.findings.lease?.length ?? 0)) notice(workspace, { lease })
}

const differing = (workspace: string, { ours, theirs, holder }: NonNullable<LeaseStatus['refused']>): Finding => {
  const settings = `${holder} has settings ${theirs}, which count, here they are ${ours}`
  const until = 'this replica leaves it alone until it has the same configuration, or the replicas with the other one are gone'
  return finding('ConfigDiffers', 'CONFIG_DIFFERS', `${workspace}: ${settings}; ${until}`, workspace, { version: `${ours} ${theirs}` })
}

const replaced = (workspace: string): Finding => {
  const why = 'another replica has had newer policies than this one, which writes nothing until its files follow'
  return finding('PolicyReplaced', 'POLICY_REPLACED', `${workspace}: ${why}, or all live replicas have had these for 10 min`, workspace)
}

const notStarted = (workspace: string, why: string): Finding =>
  finding('WorkspaceNotStarted', 'WORKSPACE_NOT_STARTED', `${workspace} cannot be kept by this replica: ${why}`, workspace, {
    version: why,
  })
