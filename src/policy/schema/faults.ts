// Turns the faults that a validator finds in a document into problems with places. Each wrong value is reported once, in the words of its kind; a
// condition between the keys of a mapping has its own message. No fault is left without a problem.

import { comparePositions } from '../../core/model/scope.ts'
import { blankHint, didYouMean, meant } from '../suggest.ts'
import { type Branch, growTree, keyPlaceOf, nameOf, report, type Says } from '../tree.ts'
import { quoted, type Source, type YamlDocument } from '../yaml.ts'
import { type AnnotatedSchema, type Check, type Fault, keysOf } from './check.ts'
import { convert, isMappingOf, refuse } from './kinds.ts'

/** `name` is the document's name in messages; `says` has messages that only the caller can word. */
interface Given {
  readonly source: Source
  readonly document: YamlDocument
  readonly name: string
  readonly says?: Says
}

/** Compares a document with its schema: returns its tree, with its problems in `reader.problems`. */
export function checkDocument<T>({ source, document, name, says = {} }: Given, schema: AnnotatedSchema, check: Check): Branch<T> {
  const tree = growTree({ source, document, convert, says }, schema, name)
  const told = new Set<Branch>()
  const conditions: (() => void)[] = []
  const places = new Set<Branch>()
  for (const fault of check(tree.value)) {
    const condition = /\/allOf\/(\d+)\/(if|oneOf)$/.exec(fault.schemaPath)
    // The condition around it is a fault too.
    if (!condition && fault.schemaPath.includes('/allOf/')) continue
    const branch = branchAt(tree, fault.instancePath)
    places.add(branch)
    const rule = condition && isMappingOf(branch) && branch.schema.allOf?.[Number(condition[1])]
    if (rule) conditions.push(() => (CONDITIONS[rule['x-rule'] ?? ''] ?? tellBroken)(branch, rule))
    else if (!condition) tell(branch, fault, told)
  }
  for (const condition of conditions) condition()
  for (const branch of places) if (!branch.faulty) refuse(branch)
  // The validator has compared the value with the schema that `T` was made of.
  return tree as Branch<T>
}

function branchAt(tree: Branch, pointer: string): Branch {
  let branch = tree
  for (const part of pointer.split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~')
    branch = branch.children.get(Array.isArray(branch.value) ? Number(key) : key) ?? branch
  }
  return branch
}

function tell(branch: Branch, { keyword, params }: Fault, told: Set<Branch>): undefined {
  switch (keyword) {
    case 'additionalProperties':
      return tellUnknown(branch, String(params['additionalProperty']))
    case 'required':
      return isMappingOf(branch) || branch.schema.required ? tellMissing(branch, String(params['missingProperty'])) : undefined
    default: {
      // The faults of other alternatives do not concern a mapping where a mapping is allowed. A dangling alias was reported already.
      const isOther = isMappingOf(branch) || branch.value === undefined
      if (isOther || told.has(branch)) return undefined
      told.add(branch)
      return refuse(branch)
    }
  }
}

function tellUnknown(branch: Branch, key: string): undefined {
  const child = branch.children.get(key)
  const hint = key === '<<' ? 'merge keys are not read: write the keys out' : (blankHint(key) ?? whereTo(branch, key))
  if (child) report(child, 'UNKNOWN_KEY', `unknown key ${quoted(key)} in ${nameOf(branch)}`, { on: 'key', hint })
}

/** A key that is near, else the only mapping one level below, or the nearest one around, that has this key. */
function whereTo(branch: Branch, key: string): string {
  const known = keysOf(branch.schema)
  const has = (schema: AnnotatedSchema | undefined): boolean => keysOf(schema?.items ?? schema).includes(key)
  const [below, ...others] = known.filter((name) => has(branch.schema.properties?.[name]))
  let around = branch.parent
  while (around && !has(around.schema)) around = around.parent
  const home = below !== undefined && others.length === 0 ? below : around && nameOf(around)
  return meant(key, known) ?? (home === undefined ? didYouMean(key, known) : `it belongs in ${home}`)
}

function tellMissing(branch: Branch, key: string): undefined {
  // A key without a value has been reported already.
  if (branch.children.has(key)) return undefined
  const name = nameOf(branch)
  const { const: word, 'x-kind': kind } = branch.schema.properties?.[key] ?? {}
  if (word !== undefined) return report(branch, 'KIND', `${name} has no ${key}`, { hint: `write ${key}: ${word}` })
  const hint = kind === 'cap' ? 'write cap: 500, or cap: none' : `write ${key}: …`
  return report(branch, 'MISSING', `${name} has no ${key}`, { hint })
}

/** Reports a mapping whose keys do not fit together, where there is more to it. */
const CONDITIONS: Readonly<Record<string, (branch: Branch, rule: AnnotatedSchema) => void>> = {
  'only-one': onlyOne,
  zero(branch) {
    const [cap, allowZero] = [branch.children.get('cap'), branch.children.get('allowZero')]
    if (!cap || cap.faulty || allowZero?.faulty) return
    report(cap, 'CAP_ZERO', `${nameOf(cap)} is 0, and allowZero: true is not beside it`, {
      hint: `a service may read a stored 0 back as "no cap": write allowZero: true beside it when 0 is meant, or ${
        cap.schema['x-kind'] === 'grant-cap' ? 'leave the grant out' : 'none to set nothing'
      }`,
    })
  },
}

/** Reports a condition that is told as the schema says. */
function tellBroken(branch: Branch, { 'x-wrong': wrong }: AnnotatedSchema): void {
  const at = (wrong?.at !== undefined && branch.children.get(wrong.at)) || branch
  const hint = wrong?.hint?.replaceAll('{key}', String(branch.key))
  if (wrong) report(at, wrong.code, `${nameOf(at)} ${wrong.what}`, { on: wrong.marks, hint })
}

/** Exactly one of several keys must be present. */
function onlyOne(branch: Branch, { 'x-code': code = 'MISSING', oneOf = [] }: AnnotatedSchema): void {
  const keys = oneOf.flatMap(({ required = [] }) => required)
  const found = keys.flatMap((key) => branch.children.get(key) ?? [])
  const [last, ...others] = found.toSorted((a, b) => comparePositions(keyPlaceOf(b), keyPlaceOf(a)))
  const words = `exactly one of ${keys.join(', ')}`
  if (!last) report(branch, code, `${nameOf(branch)} has none of ${keys.join(', ')}`, { hint: `write ${words}` })
  else if (others.length > 0) {
    const names = found.map(({ key }) => key).join(' and ')
    report(last, code, `${nameOf(branch)} has ${names}`, { on: 'key', hint: `keep ${words}` })
  }
}
