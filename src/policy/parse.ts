// Parses a policy text to its declarations. `schema/faults.ts` checks documents against the schema, and `join.ts` against each other. Everything that
// can be read is returned even when other parts are wrong, so that all problems are found at once.
import type { CapRule, PolicySet } from '../core/model/policy.ts'
import type { Position, Problem } from '../core/model/problem.ts'
import { groupScope, type Scope, TEAM, userScope } from '../core/model/scope.ts'
import { type PlacedGrant, readGrant, type Zone, zoneNamed } from './dates.ts'
import { type PlacedPool, type PlacedRule, readPeopleRule, readPool } from './people.ts'
import { checkDocument } from './schema/faults.ts'
import { capOf, refuse } from './schema/kinds.ts'
import { check, SCHEMA } from './schema/schema.generated.ts'
import type { GroupText, PolicyText, RuleText, SpecText, UserText } from './schema/texts.ts'
import { type Branch, field, good, isMapping, items, keyPlaceOf, type Placed, placed, placedItems, placeOf } from './tree.ts'
import { readYaml, type YamlText } from './yaml.ts'

/** The declarations of one document. `at` is the place of a rule's or grant's cap, and of a group's id. */
export interface PolicyDocument extends Pick<PolicySet, 'groups' | 'protectedPeople' | 'approvals'> {
  readonly file: string
  readonly name: Placed<string>
  /** Its value is undefined when it cannot be read, which is reported. */
  readonly workspace?: Placed<string | undefined>
  readonly rules: readonly Placed<CapRule>[]
  /** Every scope that is named, even when the rest of its entry is wrong. */
  readonly declared: readonly DeclaredScope[]
  readonly grants: readonly PlacedGrant[]
  readonly onGroupConflict?: Placed<'min' | 'max'>
  readonly peopleRules: readonly PlacedRule[]
  readonly pools: readonly PlacedPool[]
  /** The parts that could not be read completely, so that nothing may be reported as missing from them. */
  readonly unread: ReadonlySet<Part>
  /** Problems of the document by itself. */
  readonly problems: readonly Problem[]
  /** The envelope whose file it is in; absent: platform's, or not asked for. */
  readonly envelope?: string
  /** Its tree, where trees are kept. */
  readonly root?: Branch<PolicyText>
}

/** Declared groups; scopes with caps. */
export type Part = 'groups' | 'caps'

/** `isBare`: without a cap. */
interface DeclaredScope extends Placed<Scope> {
  readonly isBare: boolean
}

/** `damaged`: a part could not be read at all, so no workspace that reads this text is whole. */
export interface ParsedPolicyText extends Omit<YamlText, 'documents'> {
  readonly documents: readonly PolicyDocument[]
}

/**
 * Parses the text of a policy file; `file` is the name that positions carry. A text without a document is fine. With `keepTrees` documents have
 * their trees, with the tokens of the text. Never throws.
 */
export function parsePolicyText(file: string, text: string, { keepTrees = false } = {}): ParsedPolicyText {
  const yaml = readYaml(file, text, { keepTokens: keepTrees })
  const problems = [...yaml.problems]
  const documents: PolicyDocument[] = []
  let { damaged } = yaml
  for (const document of yaml.documents) {
    const root = checkDocument<PolicyText>({ source: yaml.source, document, name: 'the document' }, SCHEMA, check)
    const parsed = readDocument(root, document.problems)
    problems.push(...root.reader.problems)
    if (parsed) documents.push(keepTrees ? { ...parsed, root } : parsed)
    else damaged = true
  }
  return { source: yaml.source, documents, problems, damaged }
}

/** Undefined when it has no spec, so that its declarations are not known. */
function readDocument(root: Branch<PolicyText>, yamlProblems: readonly Problem[]): PolicyDocument | undefined {
  const spec = field(root, 'spec')
  if (!spec || !isMapping(spec)) return undefined
  const workspace = field(spec, 'workspace')
  const metadata = field(root, 'metadata')
  const name = metadata && placed(field(metadata, 'name'))
  const declared = readSpec(spec, name?.value ?? '')
  // Reading finds what the schema cannot, such as a day that does not exist.
  const problems = [...yamlProblems, ...root.reader.problems]
  return {
    file: root.reader.source.file,
    name: name ?? { value: '', at: placeOf(root) },
    workspace: workspace ? { value: good(workspace), at: placeOf(workspace) } : undefined,
    ...declared,
    problems,
  }
}

type Declared = Omit<PolicyDocument, 'file' | 'name' | 'workspace' | 'problems'>

function readSpec(spec: Branch<SpecText>, document: string): Declared {
  const zone = readZone(field(spec, 'timezone'))
  const conflict = placed(field(spec, 'onGroupConflict'))
  const groups = items(field(spec, 'groups')).map((group) => readGroup(group, document))
  const users = items(field(spec, 'users')).map((user) => readUser(user, document))
  const team = field(spec, 'team')
  const ofTeam = team && isMapping(team) && declare(team, { scope: TEAM, at: keyPlaceOf(team), document })
  const rules = [...(ofTeam ? [ofTeam] : []), ...groups.map(({ rule }) => rule), ...users]
  const grants = items(field(spec, 'grants')).map((grant) => readGrant(grant, document, zone))
  return {
    rules: rules.flatMap(({ rule }) => rule ?? []),
    declared: rules.flatMap(({ declared }) => declared ?? []),
    groups: groups.flatMap(({ group }) => group ?? []),
    unread: unreadOf(spec, {
      groups: groups.every(({ rule }) => rule.declared),
      caps: ofTeam !== false && rules.every(({ declared }) => declared) && grants.every((grant) => grant?.amount),
    }),
    grants: grants.flatMap((grant) => grant ?? []),
    protectedPeople: placedItems(field(spec, 'protected')).map(({ value, at }) => ({ scope: userScope(value), at })),
    approvals: placedItems(field(spec, 'approvals')).map(({ value: id, at }) => ({ id, at })),
    onGroupConflict: conflict,
    peopleRules: items(field(spec, 'rules')).map((rule) => readPeopleRule(rule, document)),
    pools: items(field(spec, 'pools')).map((pool) => readPool(pool, document)),
  }
}

/** The keys that may hold a part. */
const KEYS_OF = { groups: ['groups'], caps: ['team', 'groups', 'users', 'grants'] } as const

/** An unknown key and a second spec may hold any part, a value that is no list or stands twice any part of its key. */
function unreadOf(spec: Branch<SpecText>, known: Readonly<Record<Part, boolean>>): ReadonlySet<Part> {
  const isOpen = spec.partial || [...spec.children.keys()].some((key) => !Object.hasOwn(spec.schema.properties ?? {}, key))
  const isListed = (key: keyof SpecText): boolean => {
    const branch = field(spec, key)
    return branch === undefined || (!branch.partial && (key === 'team' || Array.isArray(branch.value)))
  }
  return new Set(PARTS.filter((part) => isOpen || !known[part] || !KEYS_OF[part].every(isListed)))
}

const PARTS: readonly Part[] = ['groups', 'caps']

const UTC = 'UTC'

/** The time zone of a document; an unknown one is reported. */
export function readZone(branch: Branch<string> | undefined): Zone | undefined {
  const zone = zoneNamed(good(branch) ?? UTC)
  if (!zone && branch) refuse(branch)
  return zone ?? zoneNamed(UTC)
}

interface RuleTarget {
  /** Undefined when it could not be read. */
  readonly scope: Scope | undefined
  readonly at: Position
  readonly document: string
  readonly isBare?: boolean
}

interface Rule {
  readonly declared?: DeclaredScope
  readonly rule?: Placed<CapRule>
}

/** A scope is declared as soon as it is named; it has a rule when its cap can be read. */
function declare(branch: Branch<Partial<RuleText>>, { scope, at, document, isBare = false }: RuleTarget): Rule {
  if (!scope) return {}
  const [cap, reason] = [placed(field(branch, 'cap')), good(field(branch, 'reason'))]
  const rule = cap && { scope, cap: capOf(cap.value), reason, at: cap.at, document }
  return { declared: { value: scope, at, isBare }, rule: rule ? { value: rule, at } : undefined }
}

function readGroup(branch: Branch<GroupText>, document: string) {
  const [id, name] = [placed(field(branch, 'id')), placed(field(branch, 'name'))]
  const isBare = !branch.children.has('cap')
  const scope = id && groupScope(id.value)
  const at = id?.at ?? placeOf(branch)
  const { rule, ...named } = declare(branch, { scope, at, document, isBare })
  return {
    group: scope && name ? ({ scope, name: name.value, at, nameAt: name.at } satisfies PolicySet['groups'][number]) : undefined,
    rule: { ...named, rule: rule && name ? rule : undefined },
  }
}

function readUser(branch: Branch<UserText>, document: string): Rule {
  const email = placed(field(branch, 'email'))
  return declare(branch, { scope: email && userScope(email.value), at: email?.at ?? placeOf(branch), document })
}
