// What people write in a policy, as types: they follow from policy.yaml. Also how the type of the values follows from a schema.
import type { SCHEMA } from './schema.generated.ts'

type Nullable<T extends string> = T | readonly [T, 'null']

/** The values that a schema takes, as they are read: texts as they are written, and a key without a value is left out. */
export type Read<S> = S extends { readonly const: infer One }
  ? One
  : S extends { readonly enum: readonly (infer One)[] }
    ? Exclude<One, null>
    : S extends { readonly anyOf: readonly (infer One)[] }
      ? Read<One>
      : S extends { readonly items: infer Item }
        ? readonly Read<Item>[]
        : S extends { readonly properties: infer Keys }
          ? ReadMapping<Keys, S extends { readonly required: readonly (infer Key)[] } ? Key : never> &
              (S extends { readonly additionalProperties: false } ? unknown : Readonly<Record<string, string>>)
          : S extends { readonly type: Nullable<'boolean'> }
            ? boolean
            : S extends { readonly type: Nullable<'integer' | 'number'> }
              ? number
              : S extends { readonly type: Nullable<'object'> }
                ? Readonly<Record<string, unknown>>
                : string

type ReadMapping<Keys, Required> = { readonly [Key in keyof Keys as Key extends Required ? Key : never]: Read<Keys[Key]> } & {
  readonly [Key in keyof Keys as Key extends Required ? never : Key]?: Read<Keys[Key]>
}

export type PolicyText = Read<typeof SCHEMA>
export type SpecText = PolicyText['spec']
export type RuleText = NonNullable<SpecText['team']>
type Item<Key extends keyof SpecText> = Extract<SpecText[Key], readonly unknown[]>[number]
export type GroupText = Item<'groups'>
export type UserText = Item<'users'>
export type GrantText = Item<'grants'>
export type PeopleRuleText = Item<'rules'>
export type WhenText = PeopleRuleText['when']
export type PoolText = Item<'pools'>
