// One policy text to what its documents declare. Here are the rules that a document must keep by itself (product.md, section 2); what
// only shows when all files are together is checked in `join.ts`. Everything that can be read is given back even when something else
// in the document is wrong, so that all problems are found at once; `whole` says whether nothing was.
import type { CapRule, DeclaredGroup, Grant, PolicyApproval, ProtectedPerson } from '../core/model/policy.ts'
import { hasErrors, type Position, type Problem } from '../core/model/problem.ts'
import { groupScope, type Scope, TEAM, userScope } from '../core/model/scope.ts'
import { type Zone, zoneNamed } from './dates.ts'
import { readGrant } from './grant.ts'
import {
  type Field,
  type Fields,
  type Item,
  isNothing,
  openReader,
  type Placed,
  placed,
  placeOf,
  type Reader,
  readChoice,
  readItems,
  readMap,
  readScalar,
  readText,
  report,
  requireField,
  textOf,
  written,
} from './nodes.ts'
import { API_VERSION, CONFIG_KIND, POLICY_KEYS, POLICY_KIND } from './schema.ts'
import { checkAllowZero, readCap, readEmail } from './values.ts'
import { quoted, readYaml, type Source, type YamlDocument } from './yaml.ts'

/** What one document declares. `at` of a rule or grant is its cap; of a group its id. */
export interface PolicyDocument {
  readonly file: string
  readonly name: Placed<string>
  readonly workspace?: Placed<string>
  readonly rules: readonly Placed<CapRule>[]
  readonly grants: readonly Placed<Grant>[]
  readonly groups: readonly DeclaredGroup[]
  /** Those of the groups that have no cap: known for a grant, not managed. */
  readonly bareGroups: readonly DeclaredGroup[]
  readonly protectedPeople: readonly ProtectedPerson[]
  readonly approvals: readonly PolicyApproval[]
  readonly onGroupConflict?: Placed<'min' | 'max'>
  /** Nothing in the document is wrong. */
  readonly whole: boolean
}

/** `damaged`: something could not be attributed to a workspace, so no workspace that reads this text is whole. */
export interface ParsedPolicyText {
  readonly source: Source
  readonly documents: readonly PolicyDocument[]
  readonly problems: readonly Problem[]
  readonly damaged: boolean
}

/** Parses the text of a policy file; `file` is the name that positions carry. A text without a document is fine. Never throws. */
export function parsePolicyText(file: string, text: string): ParsedPolicyText {
  const yaml = readYaml(file, text)
  const problems = [...yaml.problems]
  const documents: PolicyDocument[] = []
  let damaged = yaml.damaged || hasErrors(yaml.problems)
  for (const document of yaml.documents) {
    const reader = openReader(yaml.source, document)
    const parsed = readDocument(reader, document)
    problems.push(...reader.problems)
    if (parsed) documents.push(parsed)
    else damaged = true
  }
  return { source: yaml.source, documents, problems, damaged }
}

/** Undefined when it is not known which workspace the document is for. */
function readDocument(reader: Reader, { root }: YamlDocument): PolicyDocument | undefined {
  const fields = readMap(reader, root, 'the document', POLICY_KEYS.document)
  if (!fields) return undefined
  const named = (key: string): Field | undefined => rename(fields.get(key), key)
  checkKind(reader, root, named('apiVersion'), named('kind'))
  const name = readMetadata(reader, root, named('metadata'))
  const specField = requireField(reader, root, named('spec'), 'spec', 'the document')
  const spec = specField && readMap(reader, specField.value, 'spec', POLICY_KEYS.spec)
  if (!spec) return undefined
  const workspaceField = spec.get('workspace')
  const workspace = workspaceField && readText(reader, workspaceField)
  if (workspaceField && !workspace) return undefined
  const declared = readSpec(reader, spec, name?.value ?? '')
  return {
    file: reader.source.file,
    name: name ?? { value: '', at: placeOf(reader, root) },
    ...(workspace ? { workspace: placed(workspace) } : {}),
    ...declared,
    whole: !hasErrors(reader.problems),
  }
}

/** At the top of a document a key needs no path before it. */
const rename = (field: Field | undefined, name: string): Field | undefined => field && { ...field, name }

/** Checks the two lines that say what a document is. */
function checkKind(reader: Reader, root: YamlDocument['root'], version: Field | undefined, kind: Field | undefined): void {
  expectWord(reader, root, version, 'apiVersion', API_VERSION)
  const hint = kind && isWord(kind, CONFIG_KIND) ? 'the config is given with --config and lies outside the policy folders' : undefined
  expectWord(reader, root, kind, 'kind', POLICY_KIND, hint)
}

const isWord = (field: Field, word: string): boolean => field.value !== null && 'value' in field.value && field.value.value === word

function expectWord(reader: Reader, root: YamlDocument['root'], field: Field | undefined, key: string, word: string, hint?: string): void {
  const read = field && readScalar(reader, field, 'KIND', `not ${word}`)
  const way = { hint: hint ?? `write ${key}: ${word}` }
  if (!field) report(reader, root, 'KIND', `the document has no ${key}`, way)
  else if (read && textOf(read.value) !== word) report(reader, read.node, 'KIND', `${key} is ${written(read.value)}, not ${word}`, way)
}

function readMetadata(reader: Reader, root: YamlDocument['root'], given: Field | undefined): Placed<string> | undefined {
  const field = requireField(reader, root, given, 'metadata', 'the document')
  const metadata = field && readMap(reader, field.value, 'metadata', POLICY_KEYS.metadata)
  if (!field || !metadata) return undefined
  for (const key of ['labels', 'annotations']) checkLabels(reader, metadata.get(key))
  const name = requireField(reader, field.value ?? root, metadata.get('name'), 'name', 'metadata')
  const read = name && readText(reader, name)
  return read && placed(read)
}

function checkLabels(reader: Reader, field: Field | undefined): void {
  if (!field || isNothing(field.value)) return
  const labels = readMap(reader, field.value, field.name)
  for (const label of labels?.values() ?? []) if (!isNothing(label.value)) readScalar(reader, label, 'NOT_TEXT', 'not a text')
}

type Declared = Omit<PolicyDocument, 'file' | 'name' | 'workspace' | 'whole'>

function readSpec(reader: Reader, spec: Fields, document: string): Declared {
  const zone = readZone(reader, spec.get('timezone'))
  const conflictField = spec.get('onGroupConflict')
  const conflict = conflictField && readChoice(reader, conflictField, ['min', 'max'] as const)
  const groups = readItems(reader, spec.get('groups'), (item, node) => readGroup(reader, item, node, document))
  const users = readItems(reader, spec.get('users'), (item, node) => readUser(reader, item, node, document))
  const team = readTeam(reader, spec.get('team'), document)
  return {
    rules: [...(team ? [team] : []), ...groups.flatMap(({ rule }) => (rule ? [rule] : [])), ...users],
    groups: groups.map(({ group }) => group),
    bareGroups: groups.flatMap(({ group, bare }) => (bare ? [group] : [])),
    grants: readItems(reader, spec.get('grants'), (item) => readGrant(reader, { item, document, zone })),
    protectedPeople: readItems(reader, spec.get('protected'), (item) => readProtected(reader, item)),
    approvals: readItems(reader, spec.get('approvals'), (item) => readApproval(reader, item)),
    ...(conflict ? { onGroupConflict: placed(conflict) } : {}),
  }
}

const UTC = 'UTC'

function readZone(reader: Reader, field: Field | undefined): Zone | undefined {
  const read = field && !isNothing(field.value) ? readText(reader, field) : undefined
  const zone = zoneNamed(read?.value ?? UTC)
  if (!zone && read) {
    report(reader, read.node, 'TIMEZONE', `${field?.name} is ${quoted(read.value)}, not a known time zone`, {
      hint: 'write a name of the IANA database such as Europe/Berlin',
    })
  }
  return zone ?? zoneNamed(UTC)
}

const optionalReason = (reader: Reader, fields: Fields): { readonly reason?: string } => {
  const field = fields.get('reason')
  const read = field && readText(reader, field)
  return read ? { reason: read.value } : {}
}

interface RuleTarget {
  readonly scope: Scope
  readonly at: Position
  readonly node: Item['value']
  readonly name: string
  readonly document: string
}

function readRule(reader: Reader, fields: Fields, target: RuleTarget): Placed<CapRule> | undefined {
  const { scope, document } = target
  checkAllowZero(reader, fields)
  const reason = optionalReason(reader, fields)
  const field = fields.get('cap')
  if (!field) return report(reader, target.node, 'MISSING', `${target.name} has no cap`, { hint: 'write cap: 500, or cap: none' })
  const cap = readCap(reader, fields, field)
  return cap && { value: { scope, cap: cap.value, ...reason, at: cap.at, document }, at: target.at }
}

function readTeam(reader: Reader, field: Field | undefined, document: string): Placed<CapRule> | undefined {
  if (!field) return undefined
  const { value, keyNode } = field
  if (value === null || isNothing(value)) {
    return report(reader, keyNode, 'MISSING', `${field.name} is empty`, { hint: 'write cap: 500 beneath it, or leave it out' })
  }
  const fields = readMap(reader, value, field.name, POLICY_KEYS.team)
  const at = placeOf(reader, keyNode)
  return fields && readRule(reader, fields, { scope: TEAM, at, node: value, name: field.name, document })
}

function readGroup(reader: Reader, item: Item, node: Item['value'], document: string) {
  const fields = readMap(reader, node, item.name, POLICY_KEYS.group)
  if (!fields) return undefined
  const idField = requireField(reader, node, fields.get('id'), 'id', item.name)
  const nameField = requireField(reader, node, fields.get('name'), 'name', item.name)
  const id = idField && readText(reader, idField)
  const name = nameField && readText(reader, nameField)
  const scope = groupScope(id?.value ?? '')
  const at = id?.at ?? placeOf(reader, node)
  const rule = fields.has('cap') ? readRule(reader, fields, { scope, at, node, name: item.name, document }) : checkUnmanaged(reader, fields)
  if (!id || !name) return undefined
  return { group: { scope, name: name.value, at } satisfies DeclaredGroup, rule, bare: !fields.has('cap') }
}

/** A group without a cap: its other keys must still be right. */
function checkUnmanaged(reader: Reader, fields: Fields): undefined {
  checkAllowZero(reader, fields)
  optionalReason(reader, fields)
}

function readUser(reader: Reader, item: Item, node: Item['value'], document: string): Placed<CapRule> | undefined {
  const fields = readMap(reader, node, item.name, POLICY_KEYS.user)
  if (!fields) return undefined
  const field = requireField(reader, node, fields.get('email'), 'email', item.name)
  const email = field && readEmail(reader, field)
  const at = email?.at ?? placeOf(reader, node)
  const rule = readRule(reader, fields, { scope: userScope(email?.value ?? ''), at, node, name: item.name, document })
  return email && rule
}

function readProtected(reader: Reader, item: Item): ProtectedPerson | undefined {
  const email = readEmail(reader, item)
  return email && { scope: { kind: 'user', email: email.value }, at: email.at }
}

function readApproval(reader: Reader, item: Item): PolicyApproval | undefined {
  const read = readScalar(reader, item, 'APPROVAL', 'not a hold id')
  if (!read) return undefined
  const id = textOf(read.value).trim().toLowerCase()
  if (/^[0-9a-f]{12}$/.test(id)) return { id, at: read.at }
  return report(reader, read.node, 'APPROVAL', `${item.name} is ${written(read.value)}, not a hold id`, {
    hint: 'a hold id has 12 hex digits, as `capkeeper plan` prints it',
  })
}
