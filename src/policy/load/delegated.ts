// The files of envelopes: which files are a team's, and what they declare. A file that is wrong is reported as its envelope's, is returned without
// declarations, so that its last good form stays, and changes nothing for any other file (docs/delegation.md).
import { resolve, sep } from 'node:path'
import { type Around, grantsByScope, measure, refusalOf, whyTooMuch } from '../../core/envelopes/bounds.ts'
import type { Delegated, DelegatedDocument, DelegatedFile, Envelope, PolicySet, Refusal } from '../../core/model/policy.ts'
import { hasErrors, type Position, type Problem } from '../../core/model/problem.ts'
import { type Scope, scopeKey } from '../../core/model/scope.ts'
import type { Instant } from '../../core/model/units.ts'
import { joinDocuments, nameTaken } from '../join.ts'
import type { ParsedPolicyText, PolicyDocument } from '../parse.ts'
import { problemOn, quoted, type Source } from '../yaml.ts'
import { linesOf } from './digest.ts'
import { type Disk, ifFound } from './disk.ts'
import type { HomeOf, PolicyText } from './files.ts'

/** An envelope with its paths. */
export interface EnvelopeSource extends Envelope {
  readonly policies: readonly string[]
}

/** Characters that the declarations of one envelope may have: a few lines with aliases must not take what others need. */
const MAX_ENVELOPE_TEXT = 512 * 1024

/** The envelope whose path is nearest above a real path. */
export async function homesOf(disk: Disk, envelopes: readonly EnvelopeSource[], cwd: string): Promise<HomeOf> {
  const homes: { readonly name: string; readonly real: string }[] = []
  for (const { name, policies } of envelopes) {
    for (const path of policies.map((one) => resolve(cwd, one))) homes.push({ name, real: (await ifFound(disk.realPath(path))) ?? path })
  }
  const nearest = homes.toSorted((a, b) => b.real.length - a.real.length)
  return (real) => nearest.find((home) => real === home.real || real.startsWith(`${home.real}${sep}`))?.name
}

interface OwnedFile extends ParsedPolicyText {
  readonly file: PolicyText
  readonly envelope: string
}

export interface DelegatedInputs {
  /** Of one workspace. */
  readonly envelopes: readonly EnvelopeSource[]
  readonly files: readonly OwnedFile[]
  /** Problems with paths in the folders of these envelopes. */
  readonly unread: readonly { readonly problem: Problem; readonly home?: string }[]
  /** Of platform. */
  readonly documents: readonly PolicyDocument[]
  readonly set: PolicySet
  readonly now?: Instant
}

/** What the envelopes of a workspace declare, and what is wrong with it. */
export function readDelegated(inputs: DelegatedInputs): { readonly delegated: Delegated; readonly problems: readonly Problem[] } {
  const problems: Problem[] = inputs.unread.map(({ problem }) => problem)
  const sources = new Map(inputs.files.map(({ source }) => [source.file, source]))
  const judging: Judging = { ...inputs, sources, problems, refused: new Set() }
  const files: DelegatedFile[] = []
  for (const envelope of inputs.envelopes) {
    const whole = wholeFiles(envelope, judging)
    const documents = whole.flatMap((one) => one.documents)
    judgeTogether(envelope, documents, judging)
    const usable = new Set(isShort(envelope, documents, problems) ? whole.map(({ file }) => file.shown) : [])
    for (const { file, envelope: name } of inputs.files.filter((one) => one.envelope === envelope.name)) {
      const own = documents.filter((document) => document.file === file.shown)
      files.push({ envelope: name, file: file.shown, documents: usable.has(file.shown) ? own.map(declarationsOf) : undefined })
    }
  }
  tellShared(files, judging)
  judgeBounds(files, judging)
  const unlisted = [...new Set(inputs.unread.flatMap(({ home }) => home ?? []))]
  const envelopes = inputs.envelopes.map(({ policies: _, ...envelope }): Envelope => envelope)
  return { delegated: { envelopes, files, unlisted, refused: [...judging.refused].sort() }, problems }
}

interface Judging extends DelegatedInputs {
  readonly sources: ReadonlyMap<string, Source>
  readonly problems: Problem[]
  /** See `Delegated.refused`. */
  readonly refused: Set<string>
}

const declarationsOf = ({ file, name, rules, grants }: PolicyDocument): DelegatedDocument => ({
  ...{ file, name: name.value },
  rules: rules.map(({ value }) => value),
  grants: grants.flatMap(({ value }) => value ?? []),
})

/** The files of an envelope in which nothing is wrong. */
function wholeFiles(envelope: Envelope, { files, documents, problems }: Judging): readonly OwnedFile[] {
  const names = new Map(documents.map(({ name }) => [name.value, name.at]))
  return files.filter((file) => {
    if (file.envelope !== envelope.name) return false
    const found = [...file.problems, ...file.documents.flatMap((document) => wrongIn(document, envelope, file.source, names))]
    if (file.documents.length === 0 && !file.damaged && file.problems.some(({ code }) => code === 'EMPTY_FILE')) {
      const [warning] = file.problems
      if (warning) found.splice(0, 1, { ...warning, severity: 'error' })
    }
    problems.push(...found)
    return !file.damaged && !hasErrors(found)
  })
}

/** What only platform may say, with its places. */
const platformsIn = (document: PolicyDocument): Readonly<Record<string, readonly Position[]>> => ({
  team: document.declared.flatMap(({ value, at }) => (value.kind === 'team' ? [at] : [])),
  approvals: document.approvals.map(({ at }) => at),
  protected: document.protectedPeople.map(({ at }) => at),
  rules: document.peopleRules.map(({ name }) => name.at),
  pools: document.pools.map(({ name }) => name.at),
  onGroupConflict: document.onGroupConflict ? [document.onGroupConflict.at] : [],
})

/** What no document of a team may be or say. */
function wrongIn(document: PolicyDocument, envelope: Envelope, source: Source, names: Map<string, Position>): readonly Problem[] {
  const { name, workspace } = document
  const found: Problem[] = []
  const tell = (at: Position, message: string, hint: string) =>
    found.push(problemOn(source, at, 'error', 'ENVELOPE_OUTSIDE', message, { hint, other: envelope.at }))
  if (workspace?.value !== undefined && workspace.value !== envelope.workspace) {
    const message = `spec.workspace is ${quoted(workspace.value)}, and envelope ${envelope.name} is of workspace ${quoted(envelope.workspace)}`
    tell(workspace.at, message, 'move the document to a folder of that workspace')
  }
  for (const [key, [at]] of Object.entries(platformsIn(document))) {
    if (!at) continue
    const hint = 'write users, groups and grants here; the rest is platform’s'
    tell(at, `spec.${key} may not stand in a file of envelope ${envelope.name}`, hint)
  }
  const other = names.get(name.value)
  if (name.value !== '' && other) found.push(nameTaken(document, source, other))
  else names.set(name.value, name.at)
  return found
}

/** Checks the documents of one envelope against each other: a scope that is declared twice keeps its last accepted form. */
function judgeTogether(envelope: Envelope, documents: readonly PolicyDocument[], judging: Judging): void {
  const { sources, set, documents: others, now, problems, refused } = judging
  // A grant may add to a cap that is not known here.
  const joined = joinDocuments({ workspace: envelope.workspace, documents, others, sources, incomplete: false, now })
  problems.push(...joined.problems.filter(({ code }) => code !== 'GRANT_ADD_BASE'))
  for (const { at } of joined.problems.filter(({ severity, code }) => severity === 'error' && code !== 'GRANT_ADD_BASE')) {
    const isHere = (place: Position): boolean => at !== undefined && JSON.stringify(place) === JSON.stringify(at)
    for (const document of documents) {
      for (const one of document.declared)
        if (isHere(one.at)) for (const kind of ['cap', 'grant']) refused.add(refusedOf(envelope, kind, one.value))
      for (const one of document.grants) if (isHere(one.at)) refused.add(refusedOf(envelope, 'grant', one.scope))
    }
  }
  for (const group of documents.flatMap((document) => document.groups)) {
    const named = set.groups.find(({ scope }) => scope.id === group.scope.id)
    if (!named || named.name === group.name) continue
    const message = `group ${group.scope.id} has the name ${quoted(group.name)} here, and platform calls it ${quoted(named.name)}`
    const extra = { hint: `write ${named.name}`, other: named.at }
    problems.push(problemOn(sources.get(group.at.file), group.nameAt ?? group.at, 'error', 'ENVELOPE_OUTSIDE', message, extra))
    for (const kind of ['cap', 'grant']) refused.add(refusedOf(envelope, kind, group.scope))
  }
}

const refusedOf = ({ name }: Envelope, kind: string, scope: Scope): string => `${kind} ${scopeKey(scope)} of ${name}`

/** Two envelopes that declare one scope lose both entries, where the scope is inside both. */
function tellShared(files: readonly DelegatedFile[], { sources, problems }: Judging): void {
  for (const kind of ['rules', 'grants'] as const) {
    const all = files.flatMap(({ envelope, documents = [] }) =>
      documents.flatMap((document) => document[kind].map((one) => ({ envelope, one }))),
    )
    for (const [key, some] of Map.groupBy(all, ({ one }) => scopeKey(one.scope))) {
      for (const { envelope, one } of some) {
        const other = some.find((two) => two.envelope !== envelope)?.one.at
        const extra = { hint: 'agree which of the two', other }
        if (other)
          problems.push(
            problemOn(sources.get(one.at.file), one.at, 'error', 'DUPLICATE_SCOPE', `${key} is declared in two envelopes`, extra),
          )
      }
    }
  }
}

function isShort({ name, at }: Envelope, documents: readonly PolicyDocument[], problems: Problem[]): boolean {
  const own = documents.map(declarationsOf)
  const lines = linesOf({ rules: own.flatMap(({ rules }) => rules), grants: own.flatMap(({ grants }) => grants) })
  const length = lines.reduce((sum, line) => sum + line.length, 0)
  if (length <= MAX_ENVELOPE_TEXT) return true
  const message = `the files of envelope ${name} say ${length} characters together, at most ${MAX_ENVELOPE_TEXT} are kept`
  problems.push({ severity: 'error', code: 'TOO_LARGE', message, at })
  return false
}

/** What can be said of the bounds without the service: who is in a group, or by that in a pool, is not known. */
function judgeBounds(files: readonly DelegatedFile[], { envelopes, sources, set, now, problems }: Judging): void {
  const around: Around = {
    platform: set,
    envelopes,
    membersOf: () => undefined,
    pooled: new Set(set.pools.flatMap(({ members }) => (members.kind === 'emails' ? members.emails : []))),
    spans: {},
    now,
  }
  const tell = ({ at, other, code, message, hint }: Refusal): void =>
    void problems.push(problemOn(sources.get(at.file), at, 'error', code, message, { hint, other }))
  for (const envelope of envelopes) {
    const documents = files.flatMap((file) => (file.envelope === envelope.name ? (file.documents ?? []) : []))
    const rules = documents.flatMap((document) => document.rules)
    const grants = documents.flatMap((document) => document.grants)
    const given = { around, rules, grants: grantsByScope(grants) }
    for (const entry of [...rules, ...grants]) {
      const why = refusalOf(entry, envelope, given)
      if (why) tell(why)
    }
    const why = whyTooMuch(measure(documents, around), envelope)
    const at = [...documents].reverse().flatMap((document) => [...document.rules, ...document.grants])[0]?.at
    if (why && at) tell({ ...why, at, other: envelope.at })
  }
}
