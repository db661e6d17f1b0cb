// What of the teams' files is in force from day to day: what was accepted before, who joined and left, and what became of the envelope. Each step
// changes something of the step before; what comes of it is told in lines.
import { expect, test } from 'vitest'
import { settle } from '../../../src/core/envelopes/settle.ts'
import { groupScope, scopeKey, TEAM, userScope } from '../../../src/core/model/scope.ts'
import { credits } from '../../../src/core/model/units.ts'
import { DAY } from '../../support/declare.ts'

type Inputs = Parameters<typeof settle>[0]
type Envelope = NonNullable<Inputs['declared']['delegated']>['envelopes'][number]

const NOW = Date.UTC(2026, 10, 27)

interface Step {
  /** By file: what it declares, as `ada 2000` or `grant ada 500 9d`; undefined where it cannot be read. A file is called after its envelope; `;` begins a document. */
  readonly files?: Readonly<Record<string, string | undefined>>
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
  readonly isFrozen?: true
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
function told({ set, settled }: ReturnType<typeof settle>): string {
  const of = (envelope: string | undefined): string => (envelope === undefined ? '' : ` of ${envelope}`)
  return [
    ...set.rules.map((one) => `${scopeKey(one.scope)} ${one.cap}${of(one.envelope)}`).filter((one) => one !== 'team 5000'),
    ...set.grants.map((one) => `grant ${scopeKey(one.scope)} ${one.amount.credits}${of(one.envelope)}`),
    ...(settled?.refusals ?? []).map(({ code, at }) => `${code} ${at.file}:${at.line}`),
    ...(settled?.notes ?? []).map(({ message }) => message),
    ...Object.entries(settled?.narrowed ?? {}).map(([key, why]) => `${key}: ${why}${sinceDay(settled?.memory.narrowedAt, key)}`),
    Object.entries(settled?.envelopeOf ?? {})
      .map((one) => one.join('='))
      .join(' '),
    settled ? set.documents.join(' ') : 'as declared',
  ]
    .join(' | ')
    .replaceAll('@x.com', '')
}

function lived(steps: readonly Step[]): readonly string[] {
  let known: Step = { envelopes: { a: {} }, platform: 'team 5000', people: { ga: 'ada bob', gb: 'bob eve' }, day: 0 }
  let past: ReturnType<typeof settle> | undefined
  return steps.map((step, reading) => {
    known = { ...known, refused: [], unlisted: [], isFrozen: undefined, ...step } as Step
    const { files = {}, envelopes = {}, platform = '', people = {}, owned = '', day = 0, refused = [], unlisted = [] } = known
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
        ...(text !== undefined && {
          documents: text.split('; ').map((one, index) => {
            const name = index === 0 ? file : `${file}-${index}`
            return { file, name, groups: [], ...entriesIn(file, one, name) }
          }),
        }),
      })),
      ...{ unlisted, refused },
    }
    past = settle({
      declared: {
        set: {
          ...{ workspace: 'acme', ...entriesIn('platform', platform), approvals: [], peopleRules: [], pools: [], documents: ['platform'] },
          groups: ['ga', 'gb'].map((id) => ({ scope: groupScope(id), name: id, at: { file: 'platform', line: 9, column: 1 } })),
          protectedPeople: [],
        },
        ...{ digest: '', revision: '', ...(delegated.envelopes.length > 0 && { delegated }) },
      },
      ...{ before: past?.set, memory: past?.settled?.memory, pooled: new Set(), now, ...(known.isFrozen && { isFrozen: true }) },
      owned: new Set(owned.split(' ').map((name) => scopeKey(scopeOf(name || 'nobody')))),
      groups: Object.entries(people).map(([id, names]) => ({
        ...{ id, name: id, emails: names.split(' ').map((name) => `${name}@x.com`), readAt: NOW + reading },
      })),
    })
    return told(past)
  })
}

type Story = readonly (readonly [Step, string])[]

test.each<readonly [string, Story]>([
  [
    'what is refused, or cannot be read, stays as it was accepted, and what is gone is gone',
    [
      [{ files: { a: 'ada 2000, bob 100' } }, 'ada 2000 of a | bob 100 of a | ada=a bob=a | a platform'],
      [{ files: { a: 'ada 3001, bob 200' } }, 'ada 2000 of a | bob 200 of a | ENVELOPE_BOUND a:1 | ada=a bob=a | a platform'],
      [{ files: { a: undefined } }, 'ada 2000 of a | bob 200 of a | ENVELOPE a:1 | ada=a bob=a | a platform'],
      [{ files: { a: 'bob 200' }, owned: 'ada' }, 'bob 200 of a | ada=a bob=a | a platform'],
      [{ owned: '' }, 'bob 200 of a | bob=a | a platform'],
    ],
  ],
  [
    'what was accepted is known in whichever file of the envelope it stands',
    [
      [{ files: { a1: 'ada 2000', a2: 'bob 100' } }, 'ada 2000 of a | bob 100 of a | ada=a bob=a | a1 a2 platform'],
      [
        { files: { a1: 'bob 3001', a2: 'ada 3001' } },
        'ada 2000 of a | bob 100 of a | ENVELOPE_BOUND a1:1 | ENVELOPE_BOUND a2:1 | ada=a bob=a | a1 a2 platform',
      ],
      [{ files: { a1: '', a2: 'ada 2000' } }, 'ada 2000 of a | ada=a | a2 platform'],
    ],
  ],
  [
    'and counts once, though it stands in two files, one of which is refused or cannot be read',
    [
      [
        { files: { a1: 'grant ada 500 2d', a2: 'grant ada 600 9dfrom8' } },
        'grant ada 500 of a | grant ada 600 of a | ada=a | a1 a2 platform',
      ],
      [
        { files: { a1: 'grant ada 9000 2d', a2: 'grant ada 600 9dfrom8' } },
        'grant ada 500 of a | grant ada 600 of a | ENVELOPE_BOUND a1:1 | ada=a | a1 a2 platform',
      ],
      [
        { files: { a3: 'grant ada 500 2d', a4: 'grant ada 9000 9d' } },
        'grant ada 500 of a | grant ada 600 of a | ENVELOPE_BOUND a4:1 | ada=a | a3 a4 platform',
      ],
      [
        { files: { a3: undefined, a4: 'grant ada 500 2d' } },
        'grant ada 500 of a | grant ada 600 of a | ENVELOPE a3:1 | ada=a | a3 a4 platform',
      ],
      [{ files: { a4: 'grant ada 500 2d' } }, 'grant ada 500 of a | ada=a | a4 platform'],
    ],
  ],
  [
    'while the files of an envelope cannot be listed, those that are not there stay',
    [
      [{ files: { a1: 'ada 2000', a2: 'bob 100' } }, 'ada 2000 of a | bob 100 of a | ada=a bob=a | a1 a2 platform'],
      [{ files: { a1: 'ada 9' }, unlisted: ['a'] }, 'ada 9 of a | bob 100 of a | ENVELOPE config.yaml:1 | ada=a bob=a | a1 a2 platform'],
      [{ unlisted: ['b'] }, 'ada 9 of a | ada=a | a1 platform'],
    ],
  ],
  [
    'what is refused as declared twice stays as it was accepted',
    [
      [{ files: { a: 'ada 2000' } }, 'ada 2000 of a | ada=a | a platform'],
      [{ refused: ['cap ada@x.com of a'] }, 'ada 2000 of a | ada=a | a platform'],
      [{ files: { a: 'ada 1000' }, refused: ['cap ada@x.com of a'] }, 'ada 2000 of a | DUPLICATE_SCOPE a:1 | ada=a | a platform'],
      [{ refused: ['grant ada@x.com of a'] }, 'ada 1000 of a | ada=a | a platform'],
      [
        { files: { a: 'ada 500, grant ada 900 5d, grant bob 900 5d' }, refused: ['grant ada@x.com of a'] },
        'ada 500 of a | grant bob 900 of a | DUPLICATE_SCOPE a:2 | ada=a bob=a | a platform',
      ],
      [{ envelopes: { a: {}, b: {} }, files: { b: 'eve 5' }, refused: ['cap eve@x.com of a'] }, 'eve 5 of b | eve=b | b platform'],
    ],
  ],
  [
    'what moves to another file or document is what was accepted, also while the sum is above its bound by people who joined',
    [
      [
        { envelopes: { a: { sum: 3000 } }, files: { a1: 'ga 1000, ada 500' } },
        'group:ga 1000 of a | ada 500 of a | group:ga=a ada=a | a1 platform',
      ],
      [{ people: { ga: 'ada bob eve zed' } }, 'group:ga 1000 of a | ada 500 of a | group:ga=a ada=a | a1 platform'],
      [
        { day: 2, files: { a1: 'ada 500; ga 1000' } },
        'group:ga 1000 of a | ada 500 of a | eve joined group ga and is inside envelope a now | zed joined group ga and is inside envelope a now | group:ga=a ada=a | a1 a1-1 platform',
      ],
      [{ day: 4, files: { a1: 'ada 500', a2: 'ga 1000' } }, 'group:ga 1000 of a | ada 500 of a | group:ga=a ada=a | a1 a2 platform'],
      [
        { files: { a3: 'ga 1001', a2: 'ada 500' } },
        'group:ga 1000 of a | ada 500 of a | ENVELOPE_BOUND a3:1 | group:ga=a ada=a | a2 a3 platform',
      ],
      [{ files: { a3: 'ga 999', a2: 'ada 500' } }, 'group:ga 999 of a | ada 500 of a | group:ga=a ada=a | a2 a3 platform'],
    ],
  ],
  [
    'what is gone while a file of the envelope cannot be used may stand in that file, and stays',
    [
      [{ files: { a1: 'ada 2000', a2: 'bob 100' } }, 'ada 2000 of a | bob 100 of a | ada=a bob=a | a1 a2 platform'],
      [{ files: { a3: undefined, a2: 'bob 90' } }, 'ada 2000 of a | bob 90 of a | ENVELOPE a3:1 | ada=a bob=a | a1 a2 platform'],
      [{ files: { a3: undefined, a4: 'bob 80' } }, 'ada 2000 of a | bob 80 of a | ENVELOPE a3:1 | ada=a bob=a | a1 a4 platform'],
      [{ files: { a4: '', a3: undefined } }, 'ada 2000 of a | bob 80 of a | ENVELOPE a3:1 | ada=a bob=a | a1 a4 platform'],
      [{ files: { a3: 'ada 2001' } }, 'ada 2001 of a | ada=a | a3 platform'],
    ],
  ],
  [
    'nothing is judged while it is frozen',
    [
      [{ files: { a: 'ada 2000' } }, 'ada 2000 of a | ada=a | a platform'],
      [{ files: { a: 'ada 1000, bob 1' }, isFrozen: true }, 'ada 2000 of a | ada=a | a platform'],
      [{ files: { a1: 'bob 1' }, isFrozen: true }, 'ada 2000 of a | ada=a | a platform'],
      [{}, 'bob 1 of a | bob=a | a1 platform'],
    ],
  ],
  [
    'a narrowed envelope lowers what was accepted, and tells so until the team writes what fits',
    [
      [{ files: { a: 'ada 2000, bob 1000' } }, 'ada 2000 of a | bob 1000 of a | ada=a bob=a | a platform'],
      [
        { envelopes: { b: {}, a: { maxCap: 1000 } } },
        'ada 1000 of a | bob 1000 of a | ada: maxCap of envelope a was narrowed to 1000 | ada=a bob=a | a platform',
      ],
      [
        {},
        'ada 1000 of a | bob 1000 of a | ENVELOPE_BOUND a:1 | ada: maxCap of envelope a was narrowed to 1000 | ada=a bob=a | a platform',
      ],
      [{ files: { a: 'ada 1000, bob 1000' } }, 'ada 1000 of a | bob 1000 of a | ada=a bob=a | a platform'],
      [{ envelopes: { a: {} } }, 'ada 1000 of a | bob 1000 of a | ada=a bob=a | a platform'],
      [{ files: { a: 'ada 2000, bob 1000' } }, 'ada 2000 of a | bob 1000 of a | ada=a bob=a | a platform'],
    ],
  ],
  [
    'what was widened in between is narrowed anew',
    [
      [{ files: { a: 'ada 2000' } }, 'ada 2000 of a | ada=a | a platform'],
      [
        { envelopes: { a: { maxCap: 1000 } }, day: 2 },
        'ada 1000 of a | ada: maxCap of envelope a was narrowed to 1000 since day 2 | ada=a | a platform',
      ],
      [
        { envelopes: { a: { maxCap: 900 } }, day: 3 },
        'ada 900 of a | ENVELOPE_BOUND a:1 | ada: maxCap of envelope a was narrowed to 900 since day 2 | ada=a | a platform',
      ],
      [{ envelopes: { a: {} }, day: 4 }, 'ada 2000 of a | ada=a | a platform'],
      [
        { envelopes: { a: { maxCap: 1000 } }, day: 5 },
        'ada 1000 of a | ada: maxCap of envelope a was narrowed to 1000 since day 5 | ada=a | a platform',
      ],
    ],
  ],
  [
    'of a removed envelope each scope is told while a cap of ours is there',
    [
      [{ files: { a: 'ada 2000, bob 1000' } }, 'ada 2000 of a | bob 1000 of a | ada=a bob=a | a platform'],
      [{ envelopes: { b: {} }, owned: 'ada' }, 'ada: envelope a was removed | ada=a | platform'],
      [{ owned: '' }, ' | platform'],
      [{}, ' | platform'],
    ],
  ],
  [
    'what two envelopes declare counts in neither, and stays where it was accepted before',
    [
      [{ envelopes: { a: {}, b: {} }, files: { a: 'bob 1000' } }, 'bob 1000 of a | bob=a | a platform'],
      [{ files: { a: 'bob 1000', b: 'bob 500' } }, 'bob 1000 of a | DUPLICATE_SCOPE b:1 | bob=a | a platform'],
      [
        { files: { a: 'bob 900', b: 'bob 500, ada 3, eve 7' } },
        'bob 1000 of a | eve 7 of b | DUPLICATE_SCOPE a:1 | DUPLICATE_SCOPE b:1 | ENVELOPE_OUTSIDE b:2 | bob=a eve=b | a b platform',
      ],
      [
        { files: { a: 'bob 900, grant bob 5 9d', b: 'bob 900, eve 7' } },
        'bob 1000 of a | eve 7 of b | grant bob 5 of a | DUPLICATE_SCOPE a:1 | DUPLICATE_SCOPE b:1 | bob=a eve=b | a b platform',
      ],
      [{ files: { a: '', b: 'bob 900, eve 7' } }, 'bob 900 of b | eve 7 of b | bob=b eve=b | b platform'],
      [
        { files: { a: 'bob 100', b: undefined } },
        'bob 900 of b | eve 7 of b | ENVELOPE b:1 | DUPLICATE_SCOPE a:1 | bob=b eve=b | b platform',
      ],
      [
        { files: { a: 'bob 100' }, unlisted: ['b'] },
        'bob 900 of b | eve 7 of b | ENVELOPE config.yaml:1 | DUPLICATE_SCOPE a:1 | bob=b eve=b | b platform',
      ],
      [{}, 'bob 100 of a | bob=a | a platform'],
    ],
  ],
  [
    'what lowers the sum comes first, and a document that does not fit stays as it was',
    [
      [
        { envelopes: { a: { sum: 3000 } }, files: { a1: 'bob 1000', a2: 'ada 2000' } },
        'ada 2000 of a | bob 1000 of a | ada=a bob=a | a1 a2 platform',
      ],
      [{ files: { a1: 'bob 1500', a2: 'ada 2000' } }, 'ada 2000 of a | bob 1000 of a | ENVELOPE_BOUND a1:1 | ada=a bob=a | a1 a2 platform'],
      [{ files: { a1: 'bob 1500', a2: 'ada 1500' } }, 'ada 1500 of a | bob 1500 of a | ada=a bob=a | a1 a2 platform'],
      [
        { files: { a1: 'grant bob 2600 3d', a2: 'ada 1500' } },
        'ada 1500 of a | bob 1500 of a | ENVELOPE_BOUND a1:1 | ada=a bob=a | a1 a2 platform',
      ],
      [
        { envelopes: { a: { sum: 100 } }, files: { a1: 'bob 1501', a2: 'ada 1400' } },
        'ada 1400 of a | bob 1500 of a | ENVELOPE_BOUND a1:1 | ada=a bob=a | a1 a2 platform',
      ],
      [
        { envelopes: { a: { sum: 3000 } }, files: { a1: 'ada 2500; bob 400' } },
        'ada 2500 of a | bob 400 of a | ada=a bob=a | a1 a1-1 platform',
      ],
      [{ files: { a1: 'ada 2500; bob 600' } }, 'ada 2500 of a | bob 400 of a | ENVELOPE_BOUND a1:1 | ada=a bob=a | a1 a1-1 platform'],
    ],
  ],
  [
    'where platform declares a scope, platform counts',
    [
      [{ platform: 'team 5000, ada 700, grant bob 5 3d' }, 'ada 700 | grant bob 5 |  | platform'],
      [
        { files: { a: 'ada 100, bob 100, grant bob 9 3d, grant ada 7 3d' } },
        'ada 700 | grant bob 5 | ENVELOPE_OUTSIDE a:1 | ENVELOPE_OUTSIDE a:2 | ENVELOPE_OUTSIDE a:3 | ENVELOPE_OUTSIDE a:4 |  | platform',
      ],
      [
        { platform: 'team 5000', owned: 'ada bob' },
        'ada 100 of a | bob 100 of a | grant ada 7 of a | grant bob 9 of a | ada=a bob=a | a platform',
      ],
      [
        { platform: 'team 5000, ada 700, grant bob 5 3d, grant eve 3 9dfrom5, grant eve 2 3dfrom1, grant eve 1 9d' },
        'ada 700 | bob 100 of a | grant bob 5 | grant eve 1 | grant eve 2 | grant eve 3 | bob=a | a platform',
      ],
    ],
  ],
  [
    'a file that becomes a team’s keeps what platform declared in it, within the envelope',
    [
      [{ platform: 'team 5000, ada 700', envelopes: {} }, 'ada 700 |  | as declared'],
      [
        { platform: 'team 5000', envelopes: { p: { groups: ['ga'], maxCap: 500 } }, files: { platform: 'ada 700' } },
        'ada 500 of p | ada: maxCap of envelope p was narrowed to 500 | ada=p | platform',
      ],
      [
        { platform: '', files: { platform: undefined } },
        'team 5000 of p | ada 500 of p | ENVELOPE platform:1 | ada: maxCap of envelope p was narrowed to 500 | team=p ada=p | platform',
      ],
    ],
  ],
  [
    'also where that is more than its sum, which stops raises',
    [
      [{ platform: 'team 5000, ada 700', envelopes: {} }, 'ada 700 |  | as declared'],
      [
        { platform: 'team 5000', envelopes: { p: { groups: ['ga'], sum: 500 } }, files: { platform: 'ada 700' } },
        'ada 700 of p | ada=p | platform',
      ],
      [{ files: { platform: 'ada 701' } }, 'ada 700 of p | ENVELOPE_BOUND platform:1 | ada=p | platform'],
    ],
  ],
  [
    'who joined by two readings is inside, and told for a day',
    [
      [{ files: { a: 'ga 100, zed 5' } }, 'group:ga 100 of a | ENVELOPE_OUTSIDE a:2 | group:ga=a | a platform'],
      [{ people: { ga: 'ada bob zed' }, day: 1 }, 'group:ga 100 of a | ENVELOPE_OUTSIDE a:2 | group:ga=a | a platform'],
      [{ day: 2 }, 'group:ga 100 of a | zed 5 of a | zed joined group ga and is inside envelope a now | group:ga=a zed=a | a platform'],
      [{ day: 2.9 }, 'group:ga 100 of a | zed 5 of a | zed joined group ga and is inside envelope a now | group:ga=a zed=a | a platform'],
      [{ day: 3 }, 'group:ga 100 of a | zed 5 of a | group:ga=a zed=a | a platform'],
      [
        { files: { a: 'ga 100, ada 7, bob 7' }, people: { ga: 'ada' } },
        'group:ga 100 of a | ada 7 of a | bob 7 of a | group:ga=a ada=a bob=a | a platform',
      ],
      [
        { files: { a: 'ga 100, ada 7, bob 8' } },
        'group:ga 100 of a | ada 7 of a | bob 7 of a | ENVELOPE_OUTSIDE a:3 | group:ga=a ada=a bob=a | a platform',
      ],
      [{ people: {} }, 'group:ga 100 of a | ada 7 of a | bob 7 of a | ENVELOPE_OUTSIDE a:3 | group:ga=a ada=a bob=a | a platform'],
    ],
  ],
  [
    'grants of one scope that follow within a week count as one, also when the first is gone',
    [
      [{ files: { a: 'grant ada 9 20d' } }, 'grant ada 9 of a | ada=a | a platform'],
      [{ files: { a: 'grant ada 9 40d' }, day: 26 }, 'grant ada 9 of a | ENVELOPE_BOUND a:1 | ada=a | a platform'],
      [{ day: 27 }, 'grant ada 9 of a | ada=a | a platform'],
      [{ files: { a: '' }, day: 40 }, ' | platform'],
      [{ files: { a: 'grant ada 9 60d' }, day: 46 }, 'ENVELOPE_BOUND a:1 |  | platform'],
      [{ day: 47 }, 'grant ada 9 of a | ada=a | a platform'],
      [{ files: { a: '' }, day: 48 }, ' | platform'],
      [{ files: { a: 'grant ada 9 80d' }, day: 54 }, 'ENVELOPE_BOUND a:1 |  | platform'],
      [{ day: 55 }, 'grant ada 9 of a | ada=a | a platform'],
    ],
  ],
])('%s', (_name, story) => expect(lived(story.map(([step]) => step))).toEqual(story.map(([, line]) => line)))
