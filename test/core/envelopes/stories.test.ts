// What of the teams' files is in force from day to day: what was accepted before, who joined and left, and what became of the envelope.
import { settle } from '../../../src/core/envelopes/settle.ts'
import { groupScope, scopeKey, TEAM, userScope } from '../../../src/core/model/scope.ts'
import { credits } from '../../../src/core/model/units.ts'
import { DAY, NOW } from '../../support/declare.ts'
import { playTables } from '../../support/tables.ts'

type Inputs = Parameters<typeof settle>[0]
type Envelope = NonNullable<Inputs['declared']['delegated']>['envelopes'][number]

interface Part {
  /** By file: what it declares, as `ada 2000` or `grant ada 500 9d`; null where it cannot be read. A file is called after its envelope; `;` begins a document. */
  readonly files?: Readonly<Record<string, string | null>>
  readonly envelopes?: Readonly<Record<string, Partial<Envelope>>>
  /** What platform declares, as in `files`. */
  readonly platform?: string
  /** The groups as they are read with this step, again and again. */
  readonly people?: Readonly<Record<string, string>>
  readonly owned?: string
  /** Days since the first step. */
  readonly day?: number
  readonly refused?: readonly string[]
  readonly unlisted?: readonly string[]
  readonly isFrozen?: boolean
}

const scopeOf = (name: string) => (name === 'team' ? TEAM : name === 'ga' ? groupScope(name) : userScope(`${name}@x.com`))

function entriesIn(file: string, text: string, document = file) {
  const entries = text.split(', ').filter((one) => one !== '')
  const placed = entries.map((one, index) => ({ words: one.split(' '), at: { file, line: index + 1, column: 1 }, document }))
  return {
    rules: placed.flatMap(({ words: [name = '', cap = ''], ...where }) =>
      name === 'grant' ? [] : [{ scope: scopeOf(name), cap: cap === 'none' ? ('none' as const) : credits(Number(cap)), ...where }],
    ),
    grants: placed.flatMap(({ words: [kind, name = '', amount = '', until = ''], ...where }) =>
      kind === 'grant'
        ? [
            {
              ...{ scope: scopeOf(name), amount: { kind: 'cap' as const, credits: credits(Number(amount)) }, reason: 'x', ...where },
              until: { kind: 'instant' as const, at: NOW + Number.parseInt(until, 10) * DAY },
              ...(until.includes('from') && { fromAt: NOW + Number(until.split('from')[1]) * DAY }),
            },
          ]
        : [],
    ),
  }
}

/** Told from the second day on. */
function sinceDay(narrowedAt: Readonly<Record<string, number>> = {}, key: string): string {
  const day = ((narrowedAt[key] ?? NOW) - NOW) / DAY
  return day > 0 ? ` since day ${day}` : ''
}

/** Caps and grants with their envelope, then whatever else is told, but for the cap of the team. */
function told({ set, settled }: ReturnType<typeof settle>): readonly string[] {
  const of = (envelope: string | undefined): string => (envelope === undefined ? '' : ` of ${envelope}`)
  return [
    ...set.rules.map((one) => `${scopeKey(one.scope)} ${one.cap}${of(one.envelope)}`).filter((one) => one !== 'team 5000'),
    ...set.grants.map((one) => `grant ${scopeKey(one.scope)} ${one.amount.credits}${of(one.envelope)}`),
    ...(settled?.refusals ?? []).map(({ code, at }) => `${code} ${at.file}:${at.line}`),
    ...(settled?.notes ?? []).map(({ message }) => message),
    ...Object.entries(settled?.narrowed ?? {}).map(([key, why]) => `${key}: ${why}${sinceDay(settled?.memory.narrowedAt, key)}`),
    ...inEnvelopes(settled?.envelopeOf),
    settled ? `documents ${set.documents.join(' ')}` : 'as declared',
  ].map((line) => line.replaceAll('@x.com', ''))
}

const inEnvelopes = (names: Readonly<Record<string, string>> = {}): readonly string[] => {
  const all = Object.entries(names).map((one) => one.join('='))
  return all.length === 0 ? [] : [all.join(' ')]
}

interface Memory {
  readonly past: ReturnType<typeof settle>
  readonly readings: number
}

function lived(part: Part, { past, readings: reading }: Partial<Memory> & { readonly readings: number }): ReturnType<typeof settle> {
  const { files = {}, envelopes = { a: {} }, platform = 'team 5000', people = { ga: 'ada bob', gb: 'bob eve' } } = part
  const { owned = '', day = 0, refused = [], unlisted = [] } = part
  const now = NOW + day * DAY
  const delegated = {
    envelopes: Object.entries(envelopes).map(
      ([name, own]): Envelope => ({
        ...{ name, workspace: 'acme', groups: [`g${name}`], maxCap: 3000, grants: { maxDays: 31, maxAdd: 1000 } },
        ...{ at: { file: 'config.yaml', line: 1, column: 1 }, ...own },
      }),
    ),
    files: Object.entries(files).map(([file, text]) => ({
      ...{ envelope: file[0] ?? '', file },
      ...(text !== null && {
        documents: text.split('; ').map((one, index) => {
          const name = index === 0 ? file : `${file}-${index}`
          return { file, name, ...entriesIn(file, one, name) }
        }),
      }),
    })),
    ...{ unlisted, refused },
  }
  return settle({
    declared: {
      set: {
        ...{ workspace: 'acme', ...entriesIn('platform', platform), approvals: [], peopleRules: [], pools: [], documents: ['platform'] },
        groups: ['ga', 'gb'].map((id) => ({ scope: groupScope(id), name: id, at: { file: 'platform', line: 9, column: 1 } })),
        protectedPeople: [],
      },
      ...{ digest: '', revision: '', ...(delegated.envelopes.length > 0 && { delegated }) },
    },
    ...{ before: past?.set, memory: past?.settled?.memory, pooled: new Set(), now, ...(part.isFrozen && { isFrozen: true }) },
    owned: new Set(owned.split(' ').map((name) => scopeKey(scopeOf(name || 'nobody')))),
    groups: Object.entries(people).map(([id, names]) => ({
      ...{ id, name: id, emails: names.split(' ').map((name) => `${name}@x.com`), readAt: NOW + reading },
    })),
  })
}

playTables<Part, Memory>(import.meta.dirname, (part, before) => {
  const readings = (before?.readings ?? -1) + 1
  const past = lived(part, { past: before?.past, readings })
  return [told(past), { past, readings }]
})
