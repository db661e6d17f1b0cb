// Chooses the document that an edit goes to: the one that declares the subject, else the only one that may hold it. With several it never guesses.
import { type Scope, scopeKey } from '../../core/model/scope.ts'
import type { PolicyText } from '../load/files.ts'
import type { PolicyDocument } from '../parse.ts'
import type { PolicyText as Policy } from '../schema/source.ts'
import { type Branch, field, good, items } from '../tree.ts'
import type { Edit } from './edit.ts'
import type { Spec } from './entries.ts'

/** A document of a workspace, with its file. */
export interface Place {
  readonly workspace: string
  readonly file: PolicyText
  readonly document: PolicyDocument & { readonly root: Branch<Policy> }
}

/** Wrong usage: several documents, or none that is named. Its message lists what may be chosen. */
export class ChoiceError extends Error {
  override readonly name = 'ChoiceError'
}

/** The spec of a place. */
export const specOf = ({ document }: Place): Spec => field(document.root, 'spec') as Spec

/** The list, and the index in it, of an entry; `team` has no list. */
export interface Found {
  readonly list?: Branch<readonly unknown[]>
  readonly index: number
  readonly entry: Branch
}

/** The entry that declares a scope in a document. */
export function entryOf(place: Place, scope: Scope): Found | undefined {
  const spec = specOf(place)
  if (scope.kind === 'team') {
    const team = field(spec, 'team')
    return team && { index: 0, entry: team }
  }
  const list = scope.kind === 'group' ? field(spec, 'groups') : field(spec, 'users')
  const key = scopeKey(scope)
  const found = items<object>(list).findIndex((item) => {
    const value = good(item.children.get(scope.kind === 'group' ? 'id' : 'email'))
    return (scope.kind === 'group' ? `group:${value}` : value) === key
  })
  return foundIn(list, found)
}

/** The item of a list of texts. */
export function textItem(place: Place, key: 'protected' | 'approvals', text: string): Found | undefined {
  const list = field(specOf(place), key)
  return foundIn(
    list,
    items<unknown>(list).findIndex((item) => String(good(item)) === text),
  )
}

/** The entries of the grants of a scope, by their index. */
export function grantsOf(place: Place, scope: Scope): readonly Found[] {
  const list = field(specOf(place), 'grants')
  return place.document.grants.flatMap((grant, index) => (scopeKey(grant.scope) === scopeKey(scope) ? (foundIn(list, index) ?? []) : []))
}

const foundIn = (list: Branch<readonly unknown[]> | undefined, index: number): Found | undefined => {
  const entry = list?.children.get(index)
  return list && entry && { list, index, entry }
}

/** Whether a document declares what an edit is about. */
function declares(place: Place, edit: Edit): boolean {
  switch (edit.kind) {
    case 'approve':
      return textItem(place, 'approvals', edit.id) !== undefined
    case 'protect':
      return textItem(place, 'protected', edit.email) !== undefined
    case 'cap':
    case 'grant':
      return entryOf(place, edit.scope) !== undefined
    case 'extend':
      return grantsOf(place, edit.scope).length > 0
    case 'remove':
      return false
  }
}

/** Of several documents that name a group, the one that gives it a cap: where a team decides about it, the other only names it. */
const givesCap = (place: Place, edit: Edit): boolean =>
  (edit.kind === 'cap' || edit.kind === 'grant') && entryOf(place, edit.scope)?.entry.children.has('cap') === true

/** A second way to be about it: the person's own entry, or another grant of the scope. */
function isNear(place: Place, edit: Edit): boolean {
  if (edit.kind === 'protect') return entryOf(place, { kind: 'user', email: edit.email }) !== undefined
  return edit.kind === 'grant' && grantsOf(place, edit.scope).length > 0
}

/** The document that an edit goes to. Throws a `ChoiceError` with several, or none. */
export function placeFor(edit: Edit, places: readonly Place[]): Place {
  for (const fits of edit.kind === 'extend' ? [declares] : [givesCap, declares, isNear, () => true]) {
    const found = places.filter((place) => fits(place, edit))
    const [only, ...others] = found
    if (only && others.length === 0) return only
    if (only) throw new ChoiceError(`${found.length} documents may hold it; choose one with --file: ${namesOf(found, places).join(', ')}`)
  }
  if (edit.kind === 'extend') throw new ChoiceError(`${scopeKey(edit.scope)} has no grant to extend`)
  throw new ChoiceError('there is no policy document to edit; write one first, such as with `capkeeper init`')
}

/** The documents that `--file` may mean: those of a file, or with `#NAME` the one of that name in it. Throws a `ChoiceError` with none. */
export function placesIn(wanted: string | undefined, places: readonly Place[], isFile: (place: Place, path: string) => boolean) {
  if (wanted === undefined) return places
  const whole = places.filter((place) => isFile(place, wanted))
  if (whole.length > 0) return whole
  const at = wanted.lastIndexOf('#')
  const named = places.filter((place) => at > 0 && isFile(place, wanted.slice(0, at)) && nameIn(place) === wanted.slice(at + 1))
  if (named.length > 0) return named
  throw new ChoiceError(
    `--file ${wanted} is no file that is loaded with a policy; there are ${namesOf(places, places).join(', ') || 'none'}`,
  )
}

const nameIn = ({ document }: Place): string => document.name.value

/** How `--file` names each place. */
const namesOf = (found: readonly Place[], places: readonly Place[]): readonly string[] =>
  found.map((place) => {
    const { shown } = place.file
    const isShared = places.filter(({ file }) => file.shown === shown).length > 1
    return isShared ? `${shown}#${nameIn(place)}` : shown
  })
