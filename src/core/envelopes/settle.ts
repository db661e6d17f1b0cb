// The step between join and resolve: what of the teams' files is in force beside platform's policy. What is refused keeps its last accepted form, or
// counts as never declared, so a refusal lowers and clears nobody. Platform's own declarations never depend on what stands in an envelope.
import type { Cycle, GroupMembers } from '../model/observed.ts'
import type {
  CapRule,
  Delegated,
  DelegatedDocument,
  Envelope,
  EnvelopeMemory,
  PolicyRevision,
  PolicySet,
  Refusal,
  Settled,
} from '../model/policy.ts'
import { compareScopes, compareText, type ScopeKey, scopeKey } from '../model/scope.ts'
import { DAY_MS, type Instant, notAhead } from '../model/units.ts'
import { type Around, type Entry, entriesOf, entryKey, isDealt, isInside, keysOf, spansOf } from './bounds.ts'
import { envelopeForms, type Forms, type Given, sharedIn } from './forms.ts'

/** Counts the readings of the envelopes' groups that were not counted yet. A group that the service does not know has nobody in it. */
function learnMembers(memory: EnvelopeMemory, envelopes: readonly Envelope[], inputs: SettleInputs): EnvelopeMemory {
  const { groups, unknownGroups = [], now } = inputs
  const ids = [...new Set(envelopes.flatMap((one) => one.groups))]
  const readAt: Record<string, Instant> = {}
  const members: Record<string, readonly string[]> = {}
  const last: typeof members = {}
  const joined: typeof readAt = {}
  for (const [email, at] of Object.entries(memory.joined)) if (now - notAhead(at, now) < DAY_MS) joined[email] = notAhead(at, now)
  for (const id of ids) {
    const read = groups.find((one) => one.id === id)
    const known = Object.hasOwn(memory.members, id) ? (memory.members[id] ?? []) : unknownGroups.includes(id) ? [] : undefined
    const before = memory.last[id] ?? []
    const isNew = read !== undefined && memory.readAt[id] !== read.readAt
    const agreed = !isNew ? known : known === undefined ? read.emails : agreedBy(known, before, read.emails)
    if (agreed === undefined) continue
    if (known !== undefined && agreed !== known) for (const email of new Set(agreed).difference(new Set(known))) joined[email] = now
    members[id] = agreed
    last[id] = isNew ? read.emails : before
    readAt[id] = read?.readAt ?? memory.readAt[id] ?? now
  }
  return { ...memory, readAt, members, last, joined }
}

/** Who is in both readings is in, who is in neither is out, and all others are as before. */
function agreedBy(known: readonly string[], one: readonly string[], other: readonly string[]): readonly string[] {
  const [were, first, second] = [new Set(known), new Set(one), new Set(other)]
  return [...new Set([...known, ...other])]
    .filter((email) => (first.has(email) === second.has(email) ? second.has(email) : were.has(email)))
    .sort()
}

/** Who joined in the last day: more people of whom a team decides. */
function joinedNotes({ joined, members }: EnvelopeMemory, envelopes: readonly Envelope[]): readonly Pick<Refusal, 'message' | 'at'>[] {
  return Object.keys(joined).flatMap((email) =>
    envelopes.flatMap(({ name, groups, at }) => {
      const group = groups.find((id) => members[id]?.includes(email))
      return group === undefined ? [] : [{ message: `${email} joined group ${group} and is inside envelope ${name} now`, at }]
    }),
  )
}

interface SettleInputs extends Pick<Given, 'declared' | 'before' | 'isFrozen'>, Pick<Around, 'pooled' | 'ruled'> {
  readonly memory: EnvelopeMemory | undefined
  /** The groups as they were read last. */
  readonly groups: readonly GroupMembers[]
  /** Ids of groups that the service does not know. */
  readonly unknownGroups?: readonly string[]
  /** Scopes with a cap of ours. */
  readonly owned: ReadonlySet<ScopeKey>
  readonly cycle?: Cycle
  readonly now: Instant
}

const NO_MEMORY: EnvelopeMemory = { readAt: {}, members: {}, last: {}, joined: {}, spans: {}, scopes: {} }

/** The policy in force. Without envelopes, now and before, it is the policy of the files itself. */
export function settle(inputs: SettleInputs): PolicyRevision {
  const { declared, memory = NO_MEMORY } = inputs
  const delegated = declared.delegated ?? { envelopes: [], files: [], unlisted: [], refused: [] }
  if (!declared.delegated && Object.keys(memory.scopes).length === 0) return declared
  const learned = learnMembers(memory, delegated.envelopes, inputs)
  const around = aroundOf(inputs, delegated.envelopes, learned)
  const refusals: Refusal[] = delegated.envelopes.flatMap((envelope) => unusable(envelope, delegated))
  const shared = sharedIn(delegated, inputs.before, around)
  const accepted = delegated.envelopes.flatMap((envelope) =>
    envelopeForms({ ...inputs, delegated, memory: learned, around, envelope, shared }, refusals).map((document) =>
      tagged(document, envelope.name),
    ),
  )
  const forms = withoutMoved(accepted, delegated.envelopes, around)
  const narrowed: Record<ScopeKey, string> = {}
  const rules = forms.flatMap((document) => document.rules).map((rule) => within(rule, delegated.envelopes, narrowed))
  const set = withForms(declared.set, rules, forms)
  const scopes = scopesOf(inputs, learned, set)
  for (const [key, name] of Object.entries(scopes))
    if (!delegated.envelopes.some((one) => one.name === name)) narrowed[key as ScopeKey] = `envelope ${name} was removed`
  const spans = spansOf(set.grants, around, inputs.now)
  const settled: Settled = {
    ...{ envelopeOf: scopes, narrowed, refusals, notes: joinedNotes(learned, delegated.envelopes) },
    memory: { ...learned, scopes, spans, narrowedAt: narrowedSince(narrowed, learned, inputs) },
  }
  return { ...declared, set, settled }
}

/** A scope that was widened in between is narrowed anew. */
function narrowedSince(narrowed: Settled['narrowed'], memory: EnvelopeMemory, { now, isFrozen }: SettleInputs) {
  const known = new Map(Object.entries(memory.narrowedAt ?? {}))
  const since = Object.keys(narrowed).flatMap((key) => {
    const at = isFrozen ? known.get(key) : notAhead(known.get(key) ?? now, now)
    return at === undefined ? [] : [[key, at] as const]
  })
  return since.length > 0 ? Object.fromEntries(since) : undefined
}

/** Files with faults of their own, and paths that cannot be read. */
function unusable({ name, at: other }: Envelope, { files, unlisted }: Delegated): readonly Refusal[] {
  const broken = files.filter(({ envelope, documents }) => !documents && envelope === name)
  const all = broken.map(({ file }) => ({ what: file, hint: 'correct the file', at: { file, line: 1, column: 1 } }))
  const hidden = unlisted.includes(name) ? [{ what: `a path of envelope ${name}`, hint: 'run capkeeper validate', at: other }] : []
  return [...all, ...hidden].map(({ what, ...more }) => ({ code: 'ENVELOPE', message: `${what} cannot be used`, ...more, other }))
}

/** Of a group of no envelope, which only has a cap of platform to fall back to, one reading tells the members. */
function aroundOf(inputs: SettleInputs, envelopes: readonly Envelope[], memory: EnvelopeMemory): Around {
  const { declared, groups, pooled, ruled, cycle, now } = inputs
  const read = groups.map(({ id, emails }) => [id, emails] as const)
  const members = new Map([...read, ...Object.entries(memory.members)].map(([id, emails]) => [id, new Set(emails)]))
  return { platform: declared.set, envelopes, membersOf: (id) => members.get(id) ?? NOBODY, pooled, ruled, spans: memory.spans, now, cycle }
}

const NOBODY: ReadonlySet<string> = new Set()

const tagged = (document: DelegatedDocument, envelope: string): DelegatedDocument => ({
  ...document,
  rules: document.rules.map((one) => ({ ...one, envelope })),
  grants: document.grants.map((one) => ({ ...one, envelope })),
})

/** Who went to another team is decided about there, once that team says something, and of whom platform deals to, `none` says nothing. */
function withoutMoved(forms: Forms, envelopes: readonly Envelope[], around: Around): Forms {
  const claimed = new Map<string, string>()
  for (const one of forms.flatMap(entriesOf)) {
    const envelope = envelopes.find(({ name }) => name === one.envelope)
    if (envelope && !claimed.has(entryKey(one)) && isInside(one.scope, envelope, around)) claimed.set(entryKey(one), envelope.name)
  }
  const isTheirs = (one: Entry): boolean => (claimed.get(entryKey(one)) ?? one.envelope) === one.envelope && !isDealt(one, around)
  return forms.map((form) => ({ ...form, rules: form.rules.filter(isTheirs), grants: form.grants.filter(isTheirs) }))
}

/** A cap that was accepted before its envelope was narrowed. The team's, of a file that was platform's, is no envelope's to narrow. */
function within(rule: CapRule, envelopes: readonly Envelope[], narrowed: Record<ScopeKey, string>): CapRule {
  const envelope = envelopes.find(({ name }) => name === rule.envelope)
  const most = envelope?.maxCap ?? Number.POSITIVE_INFINITY
  const isAbove = rule.cap !== 'none' && rule.cap > most && rule.scope.kind !== 'team'
  if (!isAbove && !rule.narrowed) return rule
  narrowed[scopeKey(rule.scope)] = `maxCap of envelope ${rule.envelope} was narrowed to ${most}`
  return { ...rule, ...(isAbove && { cap: most as CapRule['cap'] }), narrowed: true }
}

/** Platform's set with the teams' entries. Where both declare a scope, platform's counts. */
function withForms(platform: PolicySet, rules: readonly CapRule[], forms: Forms): PolicySet {
  const ruled = keysOf(platform.rules)
  const granted = keysOf([...platform.rules, ...platform.grants])
  const first = new Map<ScopeKey, CapRule>()
  for (const rule of rules) {
    const key = scopeKey(rule.scope)
    if (!ruled.has(key) && !first.has(key)) first.set(key, rule)
  }
  const grants = forms.flatMap((document) => document.grants).filter(({ scope }) => !granted.has(scopeKey(scope)))
  const names = forms.flatMap(({ name, rules: some, grants: others }) => (some.length + others.length > 0 ? [name] : []))
  return {
    ...platform,
    rules: [...platform.rules, ...first.values()].sort((a, b) => compareScopes(a.scope, b.scope)),
    grants: [...platform.grants, ...grants].sort((a, b) => compareScopes(a.scope, b.scope) || (a.fromAt ?? 0) - (b.fromAt ?? 0)),
    documents: [...new Set([...platform.documents, ...names])].sort(compareText),
  }
}

/** The envelope of each scope: also of those that are declared no more, while a cap of ours is there. */
function scopesOf({ declared, owned }: SettleInputs, memory: EnvelopeMemory, set: PolicySet): Readonly<Record<ScopeKey, string>> {
  const entries = entriesOf(set)
  const own = entries.flatMap(({ scope, envelope }) => (envelope === undefined ? [] : [[scopeKey(scope), envelope] as const]))
  const platform = keysOf([...declared.set.rules, ...declared.set.grants])
  const past = Object.entries(memory.scopes).filter(([key]) => owned.has(key as ScopeKey) && !platform.has(key as ScopeKey))
  return Object.fromEntries([...past, ...own])
}
