// Where people are shown as hashes no address leaves the process by any door, whatever text it is in and however it is encoded there.
import { expect, test } from 'vitest'
import { showPlans } from '../../../src/cli/plan/run.ts'
import { createConsole } from '../../../src/console/routes.ts'
import { PAYLOADS } from '../../../src/core/notify/settings.ts'
import { ADDRESSES } from '../../support/api-schema.ts'
import { fakeClock } from '../../support/clock.ts'
import { HASHED_LABELS } from '../../support/documents.ts'
import { due, NOTIFY } from '../../support/notify.ts'
import { filled, type PathParts } from '../../support/paths.ts'
import { planOf } from '../../support/plan.ts'
import { serve } from '../../support/serve.ts'
import { fullView, HOLD, personEmail } from '../../support/views.ts'

const SECRET = 'ceo@secret.example'

const SPELLINGS: Readonly<Record<string, string>> = {
  'as it is': SECRET,
  'in capitals': SECRET.toUpperCase(),
  'as a part of an address': encodeURIComponent(SECRET),
  'as a part of a part of an address': encodeURIComponent(encodeURIComponent(SECRET)),
  'in HTML, by number': SECRET.replace('@', '&#64;'),
  'in HTML, by hexadecimal number': SECRET.replace('@', '&#x40;'),
  'in HTML, by name': SECRET.replace('@', '&commat;'),
  'in JavaScript': SECRET.replace('@', '\\u0040'),
  'in a string of JavaScript': SECRET.replace('@', '\\x40'),
  'in wide letters': SECRET.replace('@', '＠'),
  'in a mail': SECRET.replace('@', '=40'),
  'in base64': Buffer.from(SECRET).toString('base64'),
  'in a sentence': `ask <${SECRET}>, or "${SECRET}".`,
}

/** Texts that other clients, the service or people have written: each holds the secret. Names by which things are found stay. */
const KEPT = new Set([
  'workspace',
  'email',
  'emails',
  'kind',
  'state',
  'id',
  'type',
  'severity',
  'code',
  'value',
  'owner',
  'mode',
  'band',
  'status',
  'source',
  'cause',
  'guards',
  'effect',
  'action',
  'notMeasured',
  'result',
  'observed',
  'desired',
  'cap',
  'via',
  'from',
  'to',
  'digest',
  'revision',
])

function spoilt(value: unknown, secret: string, key = ''): unknown {
  if (KEPT.has(key)) return value
  if (typeof value === 'string') return `${value} ${secret}`
  if (Array.isArray(value)) return value.map((one) => spoilt(one, secret, key))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, inside]) => [name, spoilt(inside, secret, name)]))
}

/** The text with every encoding taken off again and again, and what is base64 in it. */
function readBy(text: string): string {
  let read = text
  for (let layer = 0; layer < 4; layer += 1) {
    read = read
      .replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
      .replaceAll(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)))
      .replaceAll(/&#x([0-9a-f]+);/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
      .replaceAll(/&amp;/g, '&')
      .replaceAll(/&commat;/g, '@')
      .replaceAll(/\\u([0-9a-f]{4})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
      .replaceAll(/\\x([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
      .replaceAll(/=40|＠/g, '@')
      .replaceAll(/[A-Za-z0-9+/]{16,}={0,2}/g, (run) => `${run} ${Buffer.from(run, 'base64').toString('latin1')}`)
  }
  return read.toLowerCase()
}

function addresses(): readonly string[] {
  const people = [personEmail(1), SECRET].map(HASHED_LABELS.label)
  const parts: PathParts = {
    workspace: ['acme'],
    group: ['grp_platform'],
    person: people,
    hold: [HOLD.id],
    plan: ['0123456789abcdef'],
    name: ['grp_platform', HOLD.id, ...people],
  }
  return [...ADDRESSES, ...createConsole().routes].flatMap(({ path }) => filled(path, parts)).concat('/metrics', '/readyz')
}

test.each(Object.entries(SPELLINGS))('an address %s leaves by no door', async (_, secret) => {
  const full = fullView('acme')
  const view = {
    ...(spoilt(full, secret) as ReturnType<typeof fullView>),
    pools: [{ name: `pool of ${secret}`, credits: full.balance?.creditsPerSeat, frozen: `its use is that of ${secret}` }],
    rules: [{ name: `rule of ${secret}`, people: 3 }],
  } as ReturnType<typeof fullView>
  const clock = fakeClock()
  const people = HASHED_LABELS
  const { url } = await serve({
    ...{ views: () => [view], clock, people, ready: () => ({ ready: false, reasons: [`acme: ${secret} is missing`] }) },
  })
  const answers = await Promise.all(addresses().map(async (path) => [path, await (await fetch(url + path)).text()] as const))
  expect(answers.filter(([, text]) => text.length > 500).length).toBeGreaterThan(20)
  expect(answers.filter(([, text]) => readBy(text).includes(SECRET)).map(([path]) => path)).toEqual([])
})

test.each(Object.entries(SPELLINGS))(
  'an address %s leaves in no comment on a pull request, and in no message but to the person',
  (_, secret) => {
    const { plan } = planOf({ caps: { team: 400, p1: 900 }, observed: { team: 600, p1: 0 }, protect: ['p2'] })
    const view = {
      plan: spoilt(plan, secret) as typeof plan,
      outcomes: Object.assign(new Map(), { get: () => ({ result: 'failed', error: secret }) }),
    }
    const comment = showPlans([view, { plan, unread: `nothing of ${secret}` }], 'markdown', { people: HASHED_LABELS })
    const pool = { name: `pool of ${secret}`, groups: [], members: [], credits: 100, used: 100 }
    const to = { kind: 'webhook', name: 'chat' } as const
    const owners = [{ of: { kind: 'pool', name: pool.name }, targets: [to] }] as const
    const settings = { ...NOTIFY, owners, digest: 'daily', channels: ['chat'] } as const
    const { messages } = due({ ...HASHED_LABELS, settings, pools: [pool] })
    expect(messages.map(({ kind }) => kind)).toEqual(['pool', 'digest'])
    const sent = messages.flatMap((message) => Object.values(PAYLOADS).map((payload) => JSON.stringify(payload(message))))
    expect([comment, ...sent].filter((text) => readBy(text).includes(SECRET))).toEqual([])
  },
)
