// One edit of a document: the splices that make it, and what the workspace must declare afterwards. The two are worked out apart from each other,
// so that the proof can compare them.
import { isDeepStrictEqual } from 'node:util'
import type { CapRule, DeclaredGroup, Envelope, Grant, PolicySet } from '../../core/model/policy.ts'
import { formatPosition, type Position } from '../../core/model/problem.ts'
import { type Scope, scopeKey, userScope } from '../../core/model/scope.ts'
import { credits, DAY_MS, type Instant } from '../../core/model/units.ts'
import { type PlacedGrant, readTime, type Times } from '../dates.ts'
import type { LoadedPolicies } from '../load/loaded.ts'
import { readZone } from '../parse.ts'
import { type Branch, field, good, items, placeOf } from '../tree.ts'
import { byHand, type CapEdit, type Edit, type ExtendEdit, type Fields, type GrantEdit, type Target, type Value } from './edit.ts'
import {
  addEntry,
  addKeys,
  addTeam,
  addText,
  areOfOne,
  ChoiceError,
  entryOf,
  type Found,
  grantsOf,
  type Place,
  placeFor,
  refuseSeveral,
  removeEntry,
  removeKey,
  setScalar,
  specOf,
  textItem,
} from './entries.ts'
import type { Splice } from './layout.ts'

/** What an edit does; `nothing` says why there is nothing to do. */
type Step =
  | { readonly nothing: string }
  | { readonly place: Place; readonly splices: readonly Splice[]; readonly wanted: (set: PolicySet) => PolicySet }

/** `places`: the documents that may be edited; `all`: every one of the same workspaces. */
interface Around {
  readonly places: readonly Place[]
  readonly all: readonly Place[]
  readonly sets: ReadonlyMap<string, PolicySet>
  readonly loaded: LoadedPolicies['sets']
  readonly now: Instant
}

/** Works out an edit. Throws an `InputError` for what is left to a person, and a `ChoiceError` for wrong usage. */
export function stepOf(edit: Edit, around: Around): Step {
  const { places } = around
  switch (edit.kind) {
    case 'cap':
      return setCap(edit, placeFor(edit, places))
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

const word = (value: number | string | true): Value => ({ word: String(value) })
const text = (value: string): Value => ({ text: value })
const optional = (key: string, value: string | undefined): Fields => (value === undefined ? [] : [[key, text(value)]])

/** An added declaration gets its place from the text; the proof compares meanings only. */
const placeless = ({ file, document }: Place): { readonly at: Position; readonly document: string } => ({
  at: { file: file.shown, line: 1, column: 1 },
  document: document.name.value,
})

function setCap(edit: CapEdit, place: Place): Step {
  const { scope, cap, reason, name } = edit
  const key = scopeKey(scope)
  const spec = specOf(place)
  const found = entryOf(place, scope)
  const declared = name === undefined || scope.kind !== 'group' ? undefined : { scope, name, ...placeless(place) }
  const wanted = (set: PolicySet): PolicySet => withCap(set, edit, placeless(place), found ? undefined : declared)
  const fields: Fields = [['cap', word(cap)], ...(cap === 0 ? ([['allowZero', word(true)]] as const) : []), ...optional('reason', reason)]
  if (!found) {
    if (scope.kind === 'team') return { place, splices: addTeam(spec, fields), wanted }
    if (scope.kind === 'user') return { place, splices: addEntry(spec, 'users', [['email', text(scope.email)], ...fields]), wanted }
    if (name === undefined) throw new ChoiceError(`${key} is not declared yet: give its group_name with --name`)
    return { place, splices: addEntry(spec, 'groups', [['id', text(scope.id)], ['name', text(name)], ...fields]), wanted }
  }
  refuseRenaming(found.entry, key, name)
  const splices = changedCap(found.entry, edit)
  return splices.length === 0
    ? { nothing: `${key} has the cap ${cap} already (${formatPosition(placeOf(found.entry))})` }
    : { place, splices, wanted }
}

/** Whether an entry is the document's own: platform and a team may both have one of a scope, which is an error that an edit may take away. */
const isIn = (one: CapRule | Grant, scope: Scope, document: string): boolean =>
  one.document === document && scopeKey(one.scope) === scopeKey(scope)

function refuseRenaming(entry: Branch, key: string, name: string | undefined): void {
  const own = entry.children.get('name')
  if (name === undefined || own === undefined || own.value === name.trim()) return
  const { source } = entry.reader
  byHand(
    source,
    own.node?.range?.[0] ?? 0,
    `${key} is declared with the name ${String(own.value)}, not ${name}`,
    'leave --name out, or rename it by hand',
  )
}

type CapEntry = Branch<{ cap?: number | 'none'; allowZero?: boolean; reason?: string }>

/** Only what differs. */
function changedCap(given: Branch, { cap, reason }: CapEdit): readonly Splice[] {
  const entry = given as CapEntry
  const [own, zero, why] = [field(entry, 'cap'), entry.children.get('allowZero'), field(entry, 'reason')]
  const splices: Splice[] = []
  const more: [key: string, value: Value][] = []
  if (!own) more.push(['cap', word(cap)])
  else if (good(own) !== cap) splices.push(...setScalar(own, word(cap)))
  if (cap === 0 && zero === undefined) more.push(['allowZero', word(true)])
  else if (cap === 0 && zero && good(zero) !== true) splices.push(...setScalar(zero, word(true)))
  if (reason !== undefined && !why) more.push(['reason', text(reason)])
  else if (reason !== undefined && why && good(why) !== reason.trim()) splices.push(...setScalar(why, text(reason)))
  const after = own ?? entry.children.get('name') ?? entry.children.get('id')
  return more.length > 0 && after ? [...splices, ...addKeys(entry, after, more)] : splices
}

function withCap(
  set: PolicySet,
  { scope, cap, reason }: CapEdit,
  at: Pick<CapRule, 'at' | 'document'>,
  declared: DeclaredGroup | undefined,
): PolicySet {
  const old = set.rules.find((rule) => isIn(rule, scope, at.document))
  const why = reason?.trim() ?? old?.reason
  const rule: CapRule = { ...at, scope, cap, reason: why }
  // A team names a group that platform names already.
  const isNew = declared !== undefined && !set.groups.some((one) => one.scope.id === declared.scope.id)
  return {
    ...set,
    rules: [...set.rules.filter((one) => one !== old), rule],
    groups: isNew ? [...set.groups, { ...declared, name: declared.name.trim() }] : set.groups,
  }
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

function addGrant(edit: GrantEdit, place: Place): Step {
  const { scope, amount, from, until, reason, ticket } = edit
  const times = timesIn(place, from, until)
  if (!times) throw new ChoiceError(`--from or --until: ${NO_DAY}`)
  const value: Grant = {
    ...placeless(place),
    scope,
    amount: { kind: amount.kind, credits: credits(amount.credits) },
    ...times,
    reason: reason.trim(),
    ticket: ticket?.trim(),
  }
  const own = grantsIn(place, scope)
  const same = own.find(({ grant }) => grant.value && isSameGrant(grant.value, value))
  if (same) return { nothing: `${scopeKey(scope)} has this grant already (${formatPosition(same.grant.at)})` }
  const subject: Fields = [
    scope.kind === 'team' ? ['team', word(true)] : scope.kind === 'group' ? ['group', text(scope.id)] : ['user', text(scope.email)],
  ]
  const fields: Fields = [
    ...subject,
    [amount.kind, word(amount.credits)],
    ...(amount.credits === 0 ? ([['allowZero', word(true)]] as const) : []),
    ...optional('from', from?.trim()),
    ['until', text(until.trim())],
    ['reason', text(reason)],
    ...optional('ticket', ticket),
  ]
  return { place, splices: addEntry(specOf(place), 'grants', fields), wanted: (set) => ({ ...set, grants: [...set.grants, value] }) }
}

const isSameGrant = (one: Grant, other: Grant): boolean =>
  isSameTime(one, other) && isDeepStrictEqual([one.amount, one.reason, one.ticket], [other.amount, other.reason, other.ticket])

interface GrantFound extends Found {
  readonly grant: PlacedGrant
  readonly place: Place
}

const grantsIn = (place: Place, scope: Scope): readonly GrantFound[] =>
  grantsOf(place, scope).flatMap((found) => {
    const grant = place.document.grants[found.index]
    return grant ? [{ ...found, grant, place }] : []
  })

/** The only grant, or the one that begins at `from`; `none`: the one without a beginning. */
function chosen(scope: Scope, found: readonly GrantFound[], from: string | undefined): GrantFound | undefined {
  const startIn = (place: Place) => (from === 'none' ? undefined : timesIn(place, from, 'cycleEnd')?.fromAt)
  const fits = found.filter(({ place, grant }) => from === undefined || (grant.times && grant.times.fromAt === startIn(place)))
  if (fits.length <= 1) return fits[0]
  const list = fits.map(({ grant }) => formatPosition(grant.at)).join(', ')
  const none = fits.some(({ grant }) => grant.times?.fromAt === undefined) ? ' or none' : ''
  throw new ChoiceError(`${scopeKey(scope)} has ${fits.length} grants (${list}); name one with --from DATE${none}`)
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
  const branch = found && field(found.entry as Branch<{ until: string }>, 'until')
  if (!found || !old || !branch) throw new ChoiceError(`${scopeKey(scope)} has no${from === undefined ? '' : ' such'} grant to extend`)
  if (isSameTime({ ...times, fromAt: old.fromAt }, old))
    return { nothing: `the grant of ${scopeKey(scope)} ends then already (${formatPosition(placeOf(branch))})` }
  const latest = old.until.kind === 'instant' ? old.until.at : (old.fromAt ?? 0) + LONGEST_CYCLE_MS
  if (times.until.at <= latest) {
    const { source } = branch.reader
    const message = `the grant of ${scopeKey(scope)} ends at ${String(branch.value)}, and ${until} is not surely later`
    byHand(source, branch.node?.range?.[0] ?? 0, message, 'a later day extends it; write an earlier one by hand')
  }
  const value: Grant = { ...old, until: times.until }
  const wanted = (set: PolicySet): PolicySet => ({
    ...set,
    grants: set.grants.map((one) => (isIn(one, scope, old.document) && isSameGrant(one, old) ? value : one)),
  })
  return { place, splices: setScalar(branch, text(until.trim())), wanted }
}

function addListed(edit: Edit, key: 'protected' | 'approvals', value: string, { places, all }: Around): Step {
  const workspaces = new Set(places.map(({ workspace }) => workspace))
  const near = all.filter(({ workspace }) => workspaces.has(workspace))
  const known = near.map((place) => textItem(place, key, value)).find((found) => found)
  if (known) return { nothing: `${value} is in ${key} already (${formatPosition(placeOf(known.entry))})` }
  const place = placeFor(edit, places)
  const at = placeless(place)
  const wanted = (set: PolicySet): PolicySet =>
    key === 'protected'
      ? { ...set, protectedPeople: [...set.protectedPeople, { scope: userScope(value), ...at }] }
      : { ...set, approvals: [...set.approvals, { id: value, ...at }] }
  return { place, splices: addText(specOf(place), key, value), wanted }
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

function removeScope(scope: Scope, { places, all, sets, loaded }: Around): Step {
  const key = scopeKey(scope)
  const found = places.flatMap((place) => {
    const entry = entryOf(place, scope)
    return entry ? [{ place, ...entry }] : []
  })
  const [first, ...others] = found
  if (!first) return { nothing: `${key} has no entry` }
  // Without a cap a group's entries only name each other.
  const isBare = scope.kind === 'group' && areOfOne(found.map((one) => one.place)) && !found.some((one) => one.entry.children.has('cap'))
  const chosen = others.length > 0 && !isBare ? placeFor({ kind: 'cap', scope, cap: 'none' }, places) : first.place
  const { place, list, index, entry } = found.find((one) => one.place === chosen) ?? first
  const without = (set: PolicySet): PolicySet => ({
    ...set,
    rules: set.rules.filter((rule) => !isIn(rule, scope, place.document.name.value)),
  })
  if (!list) return { place, splices: removeKey(specOf(place), entry), wanted: without }
  const set = sets.get(place.workspace)
  const another =
    scope.kind === 'group' ? all.find((one) => one !== place && one.workspace === place.workspace && entryOf(one, scope)) : undefined
  const envelopes = place.document.envelope === undefined ? (loaded.get(place.workspace)?.delegated?.envelopes ?? []) : []
  const named = scope.kind === 'group' && set ? namerOf(scope.id, set, envelopes) : undefined
  const namer = another ? `the entry in ${another.file.shown}` : named
  const cap = entry.children.get('cap')
  if (namer === undefined) {
    const wanted = (before: PolicySet): PolicySet => ({
      ...without(before),
      groups: before.groups.filter((group) => scopeKey(group.scope) !== key),
    })
    return { place, splices: removeEntry(specOf(place), list, index), wanted }
  }
  if (!cap) return { nothing: `${key} has no cap, and ${namer} names it` }
  return { place, splices: removeKey(entry, cap), wanted: without }
}

/** Who needs a declared group. */
function namerOf(id: string, { grants, peopleRules, pools }: PolicySet, envelopes: readonly Envelope[]): string | undefined {
  const grant = grants.find(({ scope }) => scope.kind === 'group' && scope.id === id)
  if (grant) return `the grant at ${formatPosition(grant.at)}`
  const rule = peopleRules.find(({ when }) => when.groups?.includes(id))
  if (rule) return `the rule ${rule.name}`
  const pool = pools.find(({ members }) =>
    members.kind === 'groups' ? members.ids.includes(id) : members.kind === 'when' && members.when.groups?.includes(id),
  )
  const envelope = envelopes.find(({ groups }) => groups.includes(id))
  return pool ? `the pool ${pool.name}` : envelope && `the envelope ${envelope.name}`
}

/** One of several entries of the text; the caller comes again until none is left. The declaration goes with the last one. */
function removeListed(key: 'protected' | 'approvals', value: string, { places, all }: Around): Step {
  const listed = places.flatMap((place) => {
    const found = textItem(place, key, value)
    return found?.list ? [{ place, list: found.list, index: found.index }] : []
  })
  const inPlaces = listed.map(({ place }) => place)
  if (!areOfOne(inPlaces)) refuseSeveral(inPlaces, places)
  const [first] = listed
  if (!first) return { nothing: `${value} is not in ${key}` }
  const { place, list, index } = first
  const siblings = all.filter(({ workspace }) => workspace === place.workspace)
  const isLast =
    siblings.flatMap((one) => items<unknown>(field(specOf(one), key)).filter((item) => String(good(item)) === value)).length === 1
  const wanted = (set: PolicySet): PolicySet =>
    !isLast
      ? set
      : key === 'protected'
        ? { ...set, protectedPeople: set.protectedPeople.filter(({ scope }) => scope.email !== value) }
        : { ...set, approvals: set.approvals.filter(({ id }) => id !== value) }
  return { place, splices: removeEntry(specOf(place), list, index), wanted }
}

function removeGrant({ scope, from, times }: Extract<Target, { kind: 'grant' }>, { places }: Around): Step {
  const all = places.flatMap((place) => grantsIn(place, scope))
  const found = chosen(scope, times ? all.filter(({ grant }) => isSameTime(grant.times, times)) : all, from)
  const old = found?.grant.value
  if (!found?.list || !old) return { nothing: `${scopeKey(scope)} has no${from === undefined ? '' : ' such'} grant` }
  const wanted = (set: PolicySet): PolicySet => ({
    ...set,
    grants: set.grants.filter((one) => !isIn(one, scope, old.document) || !isSameGrant(one, old)),
  })
  return { place: found.place, splices: removeEntry(specOf(found.place), found.list, found.index), wanted }
}
