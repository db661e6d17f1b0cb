// What of one envelope's documents is in force: each entry as it is, or as it was accepted last; and which documents fit the bounds together.
import type { Delegated, DelegatedDocument, Envelope, EnvelopeMemory, PolicyRevision, PolicySet, Refusal } from '../model/policy.ts'
import { scopeKey } from '../model/scope.ts'
import {
  type Around,
  type Entry,
  entriesOf,
  entryKey,
  grantsByScope,
  grownFrom,
  isInside,
  isSameEntry,
  type Measure,
  measure,
  refusalOf,
  whyTooMuch,
} from './bounds.ts'

/** Documents as they are in force. */
export type Forms = readonly DelegatedDocument[]

/** An envelope, and what its documents are judged by. */
export interface Given {
  /** What the files say. */
  readonly declared: PolicyRevision
  /** What was in force last: the last accepted forms. */
  readonly before: PolicySet | undefined
  /** Nothing is judged: what was accepted before stays. */
  readonly isFrozen?: true
  readonly delegated: Delegated
  readonly memory: EnvelopeMemory
  readonly around: Around
  readonly envelope: Envelope
  /** What two envelopes declare that both may: neither counts. */
  readonly shared: ReadonlySet<string>
}

/** Who names somebody of another team only takes nothing from that team: an entry counts here only where it is inside. */
export function sharedIn(delegated: Delegated, before: PolicySet | undefined, around: Around): ReadonlySet<string> {
  const { envelopes, files } = delegated
  const first = new Map<string, string>()
  const shared = new Set<string>()
  for (const envelope of envelopes) {
    const own = files.filter((one) => one.envelope === envelope.name)
    // What cannot be seen now says what it said last.
    const kept = isUnseen(envelope, delegated) ? documentsOf(before, (one) => one.envelope === envelope.name) : []
    const all = [...own.flatMap(({ documents = [] }) => documents), ...kept]
    for (const entry of all.flatMap(entriesOf)) {
      if (!isInside(entry.scope, envelope, around)) continue
      const key = entryKey(entry)
      if ((first.get(key) ?? envelope.name) !== envelope.name) shared.add(key)
      else first.set(key, envelope.name)
    }
  }
  return shared
}

/** The documents of one envelope as they are in force. */
export function envelopeForms(given: Given, refusals: Refusal[]): Forms {
  const { delegated, envelope, before, declared, memory } = given
  const files = delegated.files.filter((one) => one.envelope === envelope.name)
  const isListed = ({ at }: Entry): boolean => files.some(({ file }) => file === at.file)
  const named = envelope.groups.filter((id) => declared.set.groups.some(({ scope }) => scope.id === id))
  // Who is inside is not known yet: nothing changes.
  const unread = named.filter((id) => !Object.hasOwn(memory.members, id))
  if (unread.length > 0 && !given.isFrozen && files.length > 0) refusals.push(unjudged(envelope, unread))
  if (given.isFrozen || unread.length > 0)
    return documentsOf(before, (one) => (one.envelope === undefined ? isListed(one) : one.envelope === envelope.name))
  // Of a file that cannot be used everything stays as it was accepted.
  const broken = new Set(files.flatMap(({ file, documents }) => (documents ? [] : [file])))
  const kept = documentsOf(before, (one) => broken.has(one.at.file) && (one.envelope ?? envelope.name) === envelope.name)
  const whole = files.flatMap(({ documents = [] }) => documents)
  const standing = Map.groupBy(
    whole.flatMap((document) => entriesOf(document).map((entry) => ({ entry, document }))),
    ({ entry }) => entryKey(entry),
  )
  const earlier = before ? entriesOf(before) : []
  const accepted = Map.groupBy(earlier, entryKey)
  /** Where an accepted entry stands now: where the same is said, or what takes its place. First in its own document, then where it may have moved. */
  const homeOf = (one: Entry): DelegatedDocument | undefined => {
    const key = entryKey(one)
    const rank = ({ entry, document }: { readonly entry: Entry; readonly document: DelegatedDocument }): number => {
      const isNew = !accepted.get(key)?.some((other) => isSameEntry(other, entry))
      return (isSameEntry(entry, one) ? 0 : isNew ? 2 : 4) + (isOf(one, document) ? 0 : 1)
    }
    return standing.get(key)?.toSorted((x, y) => rank(x) - rank(y))[0]?.document
  }
  const homes = new Map(earlier.map((one) => [one, homeOf(one)]))
  // What no file shows any more may stand in one that cannot be read.
  const unseen = documentsOf(
    isUnseen(envelope, delegated) ? before : undefined,
    (one) => one.envelope === envelope.name && !broken.has(one.at.file) && homes.get(one) === undefined,
  )
  const pastOf = (document: DelegatedDocument): DelegatedDocument => {
    const isPast = (one: Entry): boolean => {
      if (!wasAccepted(one, envelope, document) || broken.has(one.at.file)) return false
      const home = homes.get(one)
      return home === document || (home === undefined && isOf(one, document))
    }
    return { ...document, rules: before?.rules.filter(isPast) ?? [], grants: before?.grants.filter(isPast) ?? [] }
  }
  const stays = [...unseen, ...kept]
  const grants = grantsByScope([...whole, ...kept].flatMap((document) => document.grants))
  const knowing = (documents: Forms) => ({ around: given.around, grants, rules: [...documents, ...stays].flatMap(({ rules }) => rules) })
  const asked = knowing(whole)
  const capped = whole.map((document) => {
    const past = pastOf(document)
    return { document: { ...document, rules: judgeSome('cap', document.rules, past.rules, { ...given, ...asked }, refusals) }, past }
  })
  // What a grant adds to is what is accepted.
  const known = knowing(capped.map(({ document }) => document))
  const grown = grownFrom(before?.rules.filter((one) => one.envelope === envelope.name) ?? [], known.rules, given.around)
  const asGiven = (document: DelegatedDocument): DelegatedDocument => ({ ...document, grants: document.grants.map(grown) })
  const held = new Set(kept.flatMap((document) => document.grants.map(entryKey)))
  const judged = capped.map(({ document, past: before }) => {
    const past = asGiven(before)
    return { form: { ...document, grants: judgeSome('grant', document.grants, past.grants, { ...given, ...known, held }, refusals) }, past }
  })
  return adoptFitting(stays.map(asGiven), judged, given, refusals)
}

const unjudged = ({ name, at }: Envelope, unread: readonly string[]): Refusal => ({
  code: 'ENVELOPE',
  message: `who is in ${unread.join(', ')} was never read, so nothing of envelope ${name} is judged`,
  hint: 'wait for the service to answer',
  at,
  other: at,
})

/** A file or a folder of the envelope cannot be read: entries that no file shows may stand there. */
const isUnseen = ({ name }: Envelope, { files, unlisted }: Delegated): boolean =>
  unlisted.includes(name) || files.some(({ envelope, documents }) => envelope === name && !documents)

const isOf = ({ at, document }: Entry, { file, name }: Pick<DelegatedDocument, 'file' | 'name'>): boolean =>
  at.file === file && document === name

function documentsOf(set: PolicySet | undefined, test: (one: Entry) => boolean): Forms {
  const [rules, grants] = [set?.rules.filter(test) ?? [], set?.grants.filter(test) ?? []]
  const keys = new Map(
    [...rules, ...grants].map(({ at, document }) => [JSON.stringify([at.file, document]), { file: at.file, name: document }]),
  )
  return [...keys.values()].map(({ file, name }) => {
    const isIn = (one: Entry): boolean => isOf(one, { file, name })
    return { file, name, rules: rules.filter(isIn), grants: grants.filter(isIn) }
  })
}

/** Each entry as it is, or as it was accepted last. Grants that are `held` stay as they are in a file that cannot be used. */
function judgeSome<T extends Entry>(
  kind: 'cap' | 'grant',
  entries: readonly T[],
  past: readonly T[],
  given: Given & Parameters<typeof refusalOf>[2] & { readonly held?: ReadonlySet<string> },
  refusals: Refusal[],
): readonly T[] {
  const { envelope, delegated, shared, held } = given
  const before = Map.groupBy(past, ({ scope }) => scopeKey(scope))
  return [...Map.groupBy(entries, ({ scope }) => scopeKey(scope))].flatMap(([key, some]) => {
    const accepted = before.get(key) ?? []
    const fresh = some.filter((one) => !accepted.some((old) => isSameEntry(one, old)))
    const isShared = shared.has(`${kind} ${key}`)
    const isRefused = isShared || delegated.refused.includes(`${kind} ${key} of ${envelope.name}`)
    const why = fresh.flatMap((one) => refusalOf(one, envelope, given) ?? [])
    refusals.push(...why)
    const [one] = fresh
    if (isRefused && one) {
      const message = `${key} ${isShared ? 'is declared in two envelopes' : 'contradicts another entry'}`
      refusals.push({ code: 'DUPLICATE_SCOPE', message, hint: 'leave one of them', at: one.at, other: envelope.at })
    }
    return fresh.length > 0 && (isRefused || why.length > 0 || held?.has(`${kind} ${key}`)) ? accepted : some
  })
}

/** An entry that was the envelope's is known by its scope, in whichever file it stood; one of platform only in the same file. */
const wasAccepted = ({ at, envelope: tag }: Entry, { name }: Envelope, { file }: DelegatedDocument): boolean =>
  tag === undefined ? at.file === file : tag === name

/** Takes over documents one by one as long as people and sum fit; those that lower the sum come first. What does not fit stays as it was. */
function adoptFitting(
  settled: Forms,
  judged: readonly { readonly form: DelegatedDocument; readonly past: DelegatedDocument }[],
  { around, envelope }: Given,
  refusals: Refusal[],
): Forms {
  const forms = judged.map(({ past }) => past)
  const total = (all: Forms): Measure => measure([...settled, ...all], around)
  const steps = judged.map(({ form, past }, index) => ({ form, index, more: measure([form], around).sum - measure([past], around).sum }))
  let now = total(forms)
  for (const { form, index } of steps.toSorted((a, b) => a.more - b.more || a.index - b.index)) {
    const next = forms.with(index, form)
    const measured = total(next)
    const why = whyTooMuch(measured, envelope, now)
    if (!why) {
      forms[index] = form
      now = measured
      continue
    }
    const [first] = entriesOf(form)
    if (first) refusals.push({ ...why, at: first.at, other: envelope.at })
  }
  return [...settled, ...forms]
}
