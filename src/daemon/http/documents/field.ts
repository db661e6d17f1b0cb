// How documents are declared: a field is its schema and the getter that fills it, in one table. Types, answers and the OpenAPI document are all made of
// these tables. A getter gives what is known; its kind writes it as the reader may see it, so that no field can forget who may see a person.
import type { Showing } from './types.ts'

/** A part of JSON Schema. */
export type Schema = Readonly<Record<string, unknown>>

/** A value of documents: its schema, and how it is written from what is known. */
export interface Kind<In, Out> {
  readonly schema: Schema
  readonly show: (value: In, showing: Showing) => Out
}

/** The type of what a kind is made from. */
export type SourceOf<K> = K extends Kind<infer In, unknown> ? In : never

/** The type of what a kind writes. */
export type Shown<K> = K extends Kind<never, infer Out> ? Out : never

interface OptionalKind<In, Out> extends Kind<In | undefined, Out | undefined> {
  readonly isOptional: true
}

/** A value with the way to it from the source of its object. */
export interface Field<Source, Out> {
  readonly schema: Schema
  readonly of: (source: Source, showing: Showing) => Out
}

interface OptionalField<Source, Out> extends Field<Source, Out | undefined> {
  readonly isOptional: true
}

/** By name. A kind alone stands for the property of the source that has the name of the field. */
type Fields<Source> = Readonly<Record<string, Field<Source, unknown> | OptionalField<Source, unknown> | Kind<never, unknown>>>

type OutOf<F> = F extends Kind<never, infer Out> ? Out : F extends Field<never, infer Out> ? Out : never
type IfOptional<F, Then, Else> = F extends { readonly isOptional: true } ? Then : Else

/** The object that these fields make. */
type Made<F> = Flat<
  { readonly [Name in keyof F as IfOptional<F[Name], never, Name>]: OutOf<F[Name]> } & {
    readonly [Name in keyof F as IfOptional<F[Name], Name, never>]?: OutOf<F[Name]>
  }
>
type Flat<T> = { [Name in keyof T]: T[Name] }

/** What each of these fields is filled from: what its getter takes, or the property of its name. */
type Fillers<F> = {
  [Name in keyof F]: F[Name] extends Field<infer From, unknown>
    ? (from: From) => void
    : (from: IfOptional<F[Name], { readonly [K in Name]?: SourceOf<F[Name]> }, { readonly [K in Name]: SourceOf<F[Name]> }>) => void
}
/** What all of them are filled from. */
type Filler<F> = Fillers<F>[keyof F] extends (from: infer All) => void ? All : never

/** Refuses fields that this source does not fill. */
type FilledBy<Source, F> = Source extends Filler<F> ? unknown : { readonly isFilledFrom: Filler<F> }

/** The property of its name, absent while that is not known. */
export const optional = <In, Out>({ schema, show }: Kind<In, Out>): OptionalKind<In, Out> => ({
  schema,
  isOptional: true,
  show: (value, showing) => (value === undefined ? undefined : show(value, showing)),
})

/** A field that a getter fills. */
export const from = <Source, In, Out>(
  { schema, show }: Kind<In, Out>,
  get: (source: Source, showing: Showing) => In,
): Field<Source, Out> => ({ schema, of: (source, showing) => show(get(source, showing), showing) })

/** A field that a getter fills, absent while that gives nothing. */
export const ifKnown = <Source, In, Out>(
  kind: Kind<In, Out>,
  get: (source: Source, showing: Showing) => In | undefined,
): OptionalField<Source, Out> => ({ ...from(optional(kind), get), isOptional: true })

/** A kind that writes something else in the same way. */
export const via = <In, Inner, Out>({ schema, show }: Kind<Inner, Out>, get: (value: In) => Inner): Kind<In, Out> => ({
  schema,
  show: (value, showing) => show(get(value), showing),
})

/** Fields that several objects have. */
export const fields =
  <Source>() =>
  <F extends Fields<Source>>(all: F & FilledBy<Source, F>): F =>
    all

type AnyFields = Readonly<Record<string, Field<never, unknown> | Kind<never, unknown>>>

/** Every field with its getter. */
const filled = (all: AnyFields) =>
  Object.entries(all).map(([name, field]) => ({
    name,
    schema: field.schema,
    isOptional: 'isOptional' in field,
    of: ('of' in field
      ? field.of
      : (source: Readonly<Record<string, never>>, showing) => field.show(source[name] as never, showing)) as Field<unknown, unknown>['of'],
  }))

/** The same fields of a source that is inside another one; `inner` is called for each of them. */
export const within = <Outer, Source, F extends Fields<Source>>(all: F & FilledBy<Source, F>, inner: (source: Outer) => Source) =>
  Object.fromEntries(
    filled(all).map(({ name, schema, isOptional, of }) => {
      const field = from<Outer, unknown, unknown>({ schema, show: (value) => value }, (source, showing) => of(inner(source), showing))
      return [name, isOptional ? { ...field, isOptional } : field]
    }),
  ) as { readonly [Name in keyof F]: IfOptional<F[Name], OptionalField<Outer, OutOf<F[Name]>>, Field<Outer, OutOf<F[Name]>>> }

/** An object with these fields and no other. */
const made = <Source, F extends AnyFields>(description: string, all: F): Kind<Source, Made<F>> & { readonly fields: F } => {
  const every = filled(all)
  return {
    fields: all,
    schema: {
      type: 'object',
      required: every.flatMap(({ name, isOptional }) => (isOptional ? [] : [name])),
      properties: Object.fromEntries(every.map(({ name, schema }) => [name, schema])),
      additionalProperties: false,
      description,
    },
    show(source, showing) {
      // A list has thousands of them: a loop takes half the time of making entries.
      const shown: Record<string, unknown> = {}
      for (const { name, of } of every) shown[name] = of(source, showing)
      return shown as Made<F>
    },
  }
}

/** An object that is made from this source. */
export const object =
  <Source>(description: string) =>
  <F extends Fields<Source>>(all: F & FilledBy<Source, F>) =>
    made<Source, F>(description, all)

/** An object whose source follows from its fields. */
export const record =
  (description: string) =>
  <F extends AnyFields>(all: F) =>
    made<Filler<F>, F>(description, all)
