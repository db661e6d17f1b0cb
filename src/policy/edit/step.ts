// One edit of a document: what it is about, the entry that it changes, and why it changes nothing. What it writes is in entries.ts.
import { isDeepStrictEqual } from 'node:util'
import { formatPosition } from '../../core/model/problem.ts'
import { type GroupScope, type Scope, scopeKey } from '../../core/model/scope.ts'
import { DAY_MS, type Instant } from '../../core/model/units.ts'
import { readTime, type Times } from '../dates.ts'
import type { LoadedPolicies } from '../load/loaded.ts'
import { readZone } from '../parse.ts'
import { type Branch, field, placeOf } from '../tree.ts'
import { byHand, type CapEdit, type Edit, type ExtendEdit, type GrantEdit, type Target } from './edit.ts'
import {
  addTeam,
  append,
  areOfOne,
  type Change,
  ChoiceError,
  drop,
  entryOf,
  type GrantFound,
  grantsIn,
  ofOneWorkspace,
  type Place,
  placeFor,
  put,
  specOf,
  textItem,
} from './entries.ts'

/** What an edit does; `nothing` says why there is nothing to do. */
type Step = { readonly nothing: string } | (Change & { readonly place: Place })

/** `places`: the documents that may be edited; `all`: every one of the same workspaces. */
interface Around {
  readonly places: readonly Place[]
  readonly all: readonly Place[]
  readonly loaded: LoadedPolicies['sets']
  readonly now: Instant
  readonly named: readonly NamedGroup[]
}

/** A group that something outside of the policies needs. */
export interface NamedGroup {
  readonly workspace: string
  readonly id: string
  readonly by: string
}

/** Works out an edit. Throws an `InputError` for what is left to a person, and a `ChoiceError` for wrong usage. */
export function stepOf(edit: Edit, around: Around): Step {
  const { places } = around
  switch (edit.kind) {
    case 'cap':
      return setCap(edit, placeFor(edit, places), around)
    case 'grant':
      return addGrant(edit, placeFor(edit, places))
    case 'extend':
      return extend(edit, placeFor(edit, places), around.now)
    case 'protect':
      return addListed(edit, 'protected', edit.email, around)
    case 'approve':
      return addListed(edit, 'approvals', edit.id, around)
    case 'remove':
      return remove(edit.target, around)
  }
}

function setCap({ scope, cap, reason, name }: CapEdit, place: Place, { loaded }: Around): Step {
  const key = scopeKey(scope)
  const spec = specOf(place)
  const found = entryOf(place, scope)
  const fields = { cap, allowZero: cap === 0 || undefined, reason }
  if (!found) {
    if (scope.kind === 'team') return { place, ...addTeam(spec, fields) }
    if (scope.kind === 'user') return { place, ...append(spec, 'users', { email: scope.email, ...fields }) }
    const elsewhere = loaded.get(place.workspace)?.set.groups.find(({ scope: { id } }) => id === scope.id)
    const known = name ?? elsewhere?.name
    if (known === undefined) throw new ChoiceError(`${key} is not declared yet: give its group_name with --name`)
    return { place, ...append(spec, 'groups', { id: scope.id, name: known, ...fields }) }
  }
  refuseRenaming(found, key, name)
  const change = put(found, fields)
  return change ? { place, ...change } : { nothing: `${key} has the cap ${cap} already (${formatPosition(placeOf(found))})` }
}

function refuseRenaming(entry: Branch, key: string, name: string | undefined): void {
  const own = entry.children.get('name')
  if (name === undefined || own === undefined || own.value === name.trim()) return
  const message = `${key} is declared with the name ${String(own.value)}, not ${name}`
  byHand(entry.reader.source, own.node?.range?.[0] ?? 0, message, 'leave --name out, or rename it by hand')
}

/** Times as a document means them. Undefined where a day does not exist. */
function timesIn(place: Place, from: string | undefined, until: string): Times | undefined {
  const zone = readZone(field(specOf(place), 'timezone'))
  if (!zone) return undefined
  const fromAt = from === undefined ? undefined : readTime(from.trim(), zone, 'start')
  const untilAt = readTime(until.trim(), zone, 'end')
  if ((from !== undefined && fromAt === undefined) || (until !== 'cycleEnd' && untilAt === undefined)) return undefined
  return { fromAt, until: untilAt === undefined ? { kind: 'cycleEnd' } : { kind: 'instant', at: untilAt } }
}

const NO_DAY = 'there is no such day: write a date such as 2026-12-15, or an RFC 3339 instant'

const isSameTime = (one: Times | undefined, other: Times): boolean =>
  one !== undefined && isDeepStrictEqual([one.fromAt, one.until], [other.fromAt, other.until])

function addGrant({ scope, amount, from, until, reason, ticket }: GrantEdit, place: Place): Step {
  const times = timesIn(place, from, until)
  if (!times) throw new ChoiceError(`--from or --until: ${NO_DAY}`)
  const same = grantsIn(place, scope).find(
    ({ grant: { value } }) =>
      value &&
      isSameTime(value, times) &&
      isDeepStrictEqual([value.amount, value.reason, value.ticket], [amount, reason.trim(), ticket?.trim()]),
  )
  if (same) return { nothing: `${scopeKey(scope)} has this grant already (${formatPosition(same.grant.at)})` }
  const fields = {
    ...(scope.kind === 'team' ? { team: true as const } : scope.kind === 'group' ? { group: scope.id } : { user: scope.email }),
    [amount.kind]: amount.credits,
    allowZero: amount.credits === 0 || undefined,
    from: from?.trim(),
    until: until.trim(),
    reason,
    ticket,
  }
  return { place, ...append(specOf(place), 'grants', fields) }
}

/** The only grant, or the one that begins at `from`; `none`: the one without a beginning. */
function chosen(scope: Scope, found: readonly GrantFound[], from: string | undefined): GrantFound | undefined {
  const startIn = (place: Place) => (from === 'none' ? undefined : timesIn(place, from, 'cycleEnd')?.fromAt)
  const fits = found.filter(({ place, grant }) => from === undefined || (grant.times && grant.times.fromAt === startIn(place)))
  if (fits.length <= 1) return fits[0]
  const list = fits.map(({ grant }) => formatPosition(grant.at)).join(', ')
  const none = fits.some(({ grant }) => grant.times?.fromAt === undefined) ? ' or none' : ''
  const way = from === undefined ? `name one with --from DATE${none}` : 'choose one with --file, or change it by hand'
  throw new ChoiceError(`${scopeKey(scope)} has ${fits.length} grants (${list}); ${way}`)
}

const LONGEST_CYCLE_MS = 31 * DAY_MS

/** Where one of several has not ended yet, it is that one. */
function extend({ scope, until, from }: ExtendEdit, place: Place, now: Instant): Step {
  const all = grantsIn(place, scope)
  const open = all.filter(({ grant }) => grant.times?.until.kind !== 'instant' || grant.times.until.at > now)
  const found = chosen(scope, from === undefined && open.length > 0 ? open : all, from)
  const times = timesIn(place, undefined, until)
  if (!times || times.until.kind === 'cycleEnd') throw new ChoiceError(`--until: ${NO_DAY}`)
  const old = found?.grant.value
  const branch = found?.entry.children.get('until')
  if (!found || !old || !branch) throw new ChoiceError(`${scopeKey(scope)} has no${from === undefined ? '' : ' such'} grant to extend`)
  const there = `the grant of ${scopeKey(scope)} ends then already (${formatPosition(placeOf(branch))})`
  if (isSameTime({ ...times, fromAt: old.fromAt }, old)) return { nothing: there }
  const latest = old.until.kind === 'instant' ? old.until.at : (old.fromAt ?? 0) + LONGEST_CYCLE_MS
  if (times.until.at <= latest) {
    const { source } = branch.reader
    const message = `the grant of ${scopeKey(scope)} ends at ${String(branch.value)}, and ${until} is not surely later`
    byHand(source, branch.node?.range?.[0] ?? 0, message, 'a later day extends it; write an earlier one by hand')
  }
  const change = put(found.entry, { until: until.trim() })
  return change ? { place, ...change } : { nothing: there }
}

function addListed(edit: Edit, key: 'protected' | 'approvals', value: string, { places, all }: Around): Step {
  const workspaces = new Set(places.map(({ workspace }) => workspace))
  const near = all.filter(({ workspace }) => workspaces.has(workspace))
  const known = near.map((place) => textItem(place, key, value)).find((found) => found)
  if (known) return { nothing: `${value} is in ${key} already (${formatPosition(placeOf(known))})` }
  const place = placeFor(edit, places)
  return { place, ...append(specOf(place), key, value) }
}

function remove(target: Target, around: Around): Step {
  switch (target.kind) {
    case 'scope':
      return removeScope(target.scope, around)
    case 'protect':
      return removeListed('protected', target.email, around)
    case 'approval':
      return removeListed('approvals', target.id, around)
    case 'grant':
      return removeGrant(target, around)
  }
}

function removeScope(scope: Scope, around: Around): Step {
  const { places } = around
  const key = scopeKey(scope)
  const found = places.flatMap((place) => {
    const entry = entryOf(place, scope)
    return entry ? [{ place, entry }] : []
  })
  const [first, ...others] = found
  if (!first) return { nothing: `${key} has no entry` }
  // Without a cap a group's entries only name each other.
  const isBare = scope.kind === 'group' && areOfOne(found.map((one) => one.place)) && !found.some((one) => one.entry.children.has('cap'))
  const chosen = others.length > 0 && !isBare ? placeFor({ kind: 'cap', scope, cap: 'none' }, places) : first.place
  const { place, entry } = found.find((one) => one.place === chosen) ?? first
  const namer = scope.kind === 'group' ? namerOf(scope, place, around) : undefined
  if (namer === undefined) return { place, ...drop(entry) }
  const cap = entry.children.get('cap')
  return cap ? { place, ...drop(cap) } : { nothing: `${key} has no cap, and ${namer} names it` }
}

/** Who needs a declared group. */
function namerOf(group: GroupScope, place: Place, { all, loaded, named }: Around): string | undefined {
  const another = all.find((one) => one !== place && one.workspace === place.workspace && entryOf(one, group))
  if (another) return `the entry in ${another.file.shown}`
  const { set, delegated } = loaded.get(place.workspace) ?? {}
  const grant = set?.grants.find(({ scope }) => scope.kind === 'group' && scope.id === group.id)
  if (grant) return `the grant at ${formatPosition(grant.at)}`
  const rule = set?.peopleRules.find(({ when }) => when.groups?.includes(group.id))
  if (rule) return `the rule ${rule.name}`
  const pool = set?.pools.find(({ members }) =>
    members.kind === 'groups' ? members.ids.includes(group.id) : members.kind === 'when' && members.when.groups?.includes(group.id),
  )
  if (pool) return `the pool ${pool.name}`
  const envelope = place.document.envelope === undefined && delegated?.envelopes.find(({ groups }) => groups.includes(group.id))
  if (envelope) return `the envelope ${envelope.name}`
  return named.find(({ workspace, id }) => workspace === place.workspace && id === group.id)?.by
}

/** One of several entries of the text; the caller comes again until none is left. */
function removeListed(key: 'protected' | 'approvals', value: string, { places }: Around): Step {
  const [place] = ofOneWorkspace(places, (one) => textItem(one, key, value) !== undefined)
  const entry = place && textItem(place, key, value)
  return entry ? { place, ...drop(entry) } : { nothing: `${value} is not in ${key}` }
}

function removeGrant({ scope, from, times }: Extract<Target, { kind: 'grant' }>, { places }: Around): Step {
  const holding = ofOneWorkspace(places, (place) => grantsIn(place, scope).length > 0)
  const all = holding.flatMap((place) => grantsIn(place, scope))
  const found = chosen(scope, times ? all.filter(({ grant }) => isSameTime(grant.times, times)) : all, from)
  if (!found) return { nothing: `${scopeKey(scope)} has no${from === undefined ? '' : ' such'} grant` }
  return { place: found.place, ...drop(found.entry) }
}
