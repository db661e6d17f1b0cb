// A daemon that tells people: its loop on a clock that the test moves, a real ledger, a real mail server and a real webhook on loopback.
import { describe, expect, it } from 'vitest'
import { EMAIL_LABELS } from '../../../src/daemon/http/labels.ts'
import { DAY, email, HOUR, NOW, scope } from '../../support/declare.ts'
import { failingLedger } from '../../support/faults.ts'
import { live, loopUnder, MINUTE } from '../../support/living.ts'
import { NOTIFY } from '../../support/notify.ts'
import type { MailServer } from '../../support/smtp.ts'
import { POLICY, SECRET_PATH, town, uses } from '../../support/town.ts'
import { recordPast } from '../../support/use.ts'
import type { World } from '../../support/world.ts'

const receivers = ({ mails }: MailServer): readonly string[] => mails.map(({ to }) => to)
type Notifier = NonNullable<World['workspace']['notifier']>

const states = ({ ledger }: World): readonly string[] => Object.values(ledger.fact('told')?.entries ?? {}).map(({ state }) => state)

describe('people', () => {
  it('at 85 % and at the cap get one mail each, to their own address, and others none', async () => {
    const { one, mail } = await town({ ada: 900, bob: 1000, cleo: 100 })
    // Time passes also while a message is made.
    const { now } = one.clock
    let lateMs = 0
    one.clock.now = () => now() + lateMs++
    await one.clock.pass(3 * HOUR)
    expect(receivers(mail)).toEqual(['bob@example.com', 'ada@example.com'])
    expect(mail.mails[0]?.source).toContain('Subject: 100 % of your add-on credits are used')
    // Mail cuts long lines with `=`.
    const stops = mail.mails.map(({ source }) => /stops you first: ([^.]*)\./.exec(source.replaceAll(/=\r?\n/g, ''))?.[1])
    expect(stops).toEqual(['your cap, now', 'your cap, expected on 2026-11-23'])
    expect(mail.mails[0]?.source).not.toMatch(/\bada\b|cleo/)
    expect(states(one)).toEqual(['sent', 'sent'])
  })

  it('who leave the team in the reading that puts them at a threshold get none', async () => {
    const { one, mail } = await town({}, { people: ['ada', 'bob', 'cleo', 'dan', 'eve', 'fay'], config: { intervalMs: 2 * HOUR } })
    await one.clock.pass(20 * MINUTE)
    one.setStatus('ada', 'REJECTED')
    recordPast(one, uses({ ada: 1000, bob: 1000 }))
    await one.clock.pass(4 * HOUR)
    expect(receivers(mail)).toEqual(['bob@example.com'])
  })

  it('who pass the next threshold get a second mail, and none for falling and passing it again', async () => {
    const { one, mail } = await town({ ada: 900 })
    await one.clock.pass(HOUR)
    one.foreign('ada', 5000)
    await one.clock.pass(MINUTE)
    recordPast(one, uses({ ada: -350 }))
    await one.clock.pass(2 * HOUR)
    expect(mail.mails.map(({ source }) => /Subject: (\d+)/.exec(source)?.[1])).toEqual(['90', '105'])
  })

  it('get no message in quiet hours, and afterwards those that still apply', async () => {
    const quietHours = { fromMinute: 11 * 60, untilMinute: 14 * 60 }
    const { one, mail } = await town({ ada: 900 }, { settings: { quietHours } })
    await one.clock.pass(110 * MINUTE)
    expect(mail.connections).toBe(0)
    await one.clock.pass(30 * MINUTE)
    expect(receivers(mail)).toEqual(['ada@example.com'])
  })

  it('are told once, also when the process is replaced', async () => {
    const first = await town({ ada: 900 })
    await first.one.clock.pass(HOUR)
    expect(receivers(first.mail)).toEqual(['ada@example.com'])
    const told = first.one.ledger.fact('told')
    const second = await town({ ada: 900 })
    second.one.ledger.saveFact('told', told)
    await second.one.clock.pass(HOUR)
    expect(second.mail.connections).toBe(0)
  })
})

/** Tells an owner and a channel what was written. */
function telling(send: Notifier['send']): Notifier {
  const owners = [{ of: { kind: 'group', id: 'grp_r' }, targets: [{ kind: 'email', address: 'lead@example.com' }] }] as const
  return { ...EMAIL_LABELS, settings: { ...NOTIFY, owners, events: ['applied'], channels: ['chat'] }, send, kept: async () => [] }
}

describe('a channel that fails', () => {
  it.each([
    ['by a fault of its own', async () => Promise.reject(new Error('a fault'))],
    ['by giving no answer', (cut: AbortSignal) => new Promise<void>((end) => cut.addEventListener('abort', () => end()))],
  ])('%s keeps no outcome of another from being recorded, and ends within two seconds', async (_title, fails) => {
    const send: Notifier['send'] = async ({ to }, cut) => {
      if (to.kind === 'email') await fails(cut)
      return { kind: 'refused', reason: 'busy' }
    }
    const { one, stop } = await loopUnder(POLICY, { groups: { grp_r: ['ada', 'bob'] }, parts: { notifier: telling(send) } })
    await one.clock.pass(MINUTE)
    expect(states(one)).toEqual(['sending', 'waiting'])
    const stoppedAt = one.clock.monotonic()
    await stop()
    expect(one.clock.monotonic() - stoppedAt).toBeLessThanOrEqual(2_000)
  })

  it.each([
    ['is tried again while it is due', false],
    ['is told for a day once the cap was raised', true],
  ])('and what could not be sent %s', async (_case, isRaised) => {
    const { one, mail, life } = await town({ ada: 900 }, { faults: { MAIL: '451 later' } })
    const told = (): boolean => one.workspace.conditions.some(({ type }) => type === 'NotifyFailed')
    await one.clock.pass(20 * MINUTE)
    expect(told()).toBe(true)
    if (isRaised) life.set({ caps: { team: 5000, 'group:grp_r': 5000 } })
    await one.clock.pass(2 * HOUR)
    expect(told()).toBe(true)
    mail.faults = {}
    await one.clock.pass(2 * HOUR)
    expect(told()).toBe(isRaised)
    await one.clock.pass(DAY)
    expect(told()).toBe(false)
    expect(receivers(mail)).toEqual(isRaised ? [] : ['ada@example.com'])
  })

  it('is tried again, holds no cycle up, is told as a condition, and delivers once it is there', async () => {
    const { one, mail } = await town({ ada: 900, bob: 1000 }, { faults: { MAIL: '451 later' } })
    await one.clock.pass(20 * MINUTE)
    expect(mail.mails).toEqual([])
    expect(one.workspace.conditions.find(({ type }) => type === 'NotifyFailed')).toMatchObject({
      subject: 'notify e-mail',
      message: expect.stringMatching(/^e-mail: 2 messages could not be sent \(2 tried again\): .* \(451\)$/),
    })
    expect(one.caps()).toEqual({ team: 1000, 'group:grp_r': 1000 })
    mail.faults = {}
    await one.clock.pass(2 * HOUR)
    expect(receivers(mail).toSorted()).toEqual(['ada@example.com', 'bob@example.com'])
    expect(one.workspace.conditions.some(({ type }) => type === 'NotifyFailed')).toBe(false)
  })

  it('is told no more once the configuration asks for no messages', async () => {
    const { one, life, silence } = await town({ ada: 900 }, { faults: { MAIL: '451 later' } })
    const told = () => one.workspace.conditions.filter(({ type }) => type === 'NotifyFailed').length
    await one.clock.pass(20 * MINUTE)
    await life.stop()
    expect(told()).toBe(1)
    silence()
    const next = live(one)
    next.set(POLICY)
    await one.clock.pass(5 * MINUTE)
    await next.stop()
    expect(told()).toBe(0)
  })

  it('is tried with one message at a time while it fails, however many wait', async () => {
    const people = Array.from({ length: 40 }, (_, index) => `p${index}`)
    const used = Object.fromEntries(people.map((name) => [name, 950]))
    const { one, mail } = await town(used, { people: [...people, 'ada', 'bob'], faults: { EHLO: '421 busy' } })
    await one.clock.pass(10 * MINUTE)
    const before = mail.connections
    await one.clock.pass(60 * MINUTE)
    expect(mail.connections - before).toBeLessThanOrEqual(20)
    mail.faults = {}
    await one.clock.pass(3 * HOUR)
    expect(mail.mails).toHaveLength(40)
    expect(new Set(receivers(mail)).size).toBe(40)
  })

  it('by giving no answer to messages that it may have taken is not given all of them', async () => {
    const people = Array.from({ length: 40 }, (_, index) => `p${index}`)
    const used = Object.fromEntries(people.map((name) => [name, 950]))
    const { one, mail } = await town(used, { people: [...people, 'ada', 'bob'], faults: { '.': 'hang up' } })
    await one.clock.pass(10 * MINUTE)
    expect(states(one).filter((state) => state === 'unknown').length).toBeLessThanOrEqual(20)
    mail.faults = {}
    await one.clock.pass(HOUR)
    expect([...new Set(states(one))].toSorted()).toEqual(['sent', 'unknown'])
    expect(mail.mails.length).toBeGreaterThanOrEqual(20)
  })

  it.each([30])('for %i people alone does not keep the others from their mail, and shows the files it cannot read', async (count) => {
    const people = Array.from({ length: 40 }, (_, index) => `p${String(index).padStart(2, '0')}`)
    const reached = new Map<string, number>()
    const send: NonNullable<World['workspace']['notifier']>['send'] = async ({ to }) => {
      const address = to.kind === 'email' ? to.address : ''
      if (people.indexOf(address.split('@')[0] ?? '') < count) return { kind: 'refused', reason: 'full', alone: true }
      reached.set(address, one.clock.monotonic())
      return { kind: 'sent' }
    }
    const kept = async () => ['the password of the mail server: /keys/mail does not exist (ENOENT)']
    const parts = { notifier: { ...EMAIL_LABELS, settings: NOTIFY, send, kept } }
    const { one } = await loopUnder({ caps: { team: 1000 } }, { people, caps: { team: 1000 }, parts }, (world) =>
      recordPast(world, uses(Object.fromEntries(people.map((name) => [name, 1000])))),
    )
    await one.clock.pass(HOUR)
    expect(reached.size).toBe(40 - count)
    expect(Math.max(...reached.values()) / MINUTE).toBeLessThan(30)
    const message = 'acme: the password of the mail server: /keys/mail does not exist (ENOENT); the last good one is used'
    expect(one.workspace.conditions).toContainEqual(expect.objectContaining({ type: 'FileUnread', message }))
  })

  it('that may have taken a message is not given it again', async () => {
    const { one, mail } = await town({ ada: 900 }, { faults: { '.': 'hang up' } })
    await one.clock.pass(10 * MINUTE)
    mail.faults = {}
    const { connections } = mail
    await one.clock.pass(6 * HOUR)
    expect(mail.connections).toBe(connections)
    expect(states(one)).toEqual(['unknown'])
  })

  it('between record and answer of a process that died, is not given the message again', async () => {
    const { one, mail, life } = await town({ ada: 900 })
    const entry = { level: 85, state: 'sending', at: one.clock.now(), tries: 1 } as const
    one.ledger.saveFact('told', { cycleStartAt: Date.UTC(2026, 10, 1), entries: { '["person","ada@example.com"]': entry } })
    life.set(POLICY)
    await one.clock.pass(HOUR)
    expect(mail.connections).toBe(0)
    expect(states(one)).toEqual(['unknown'])
    expect(one.workspace.conditions.find(({ type }) => type === 'NotifyFailed')?.message).toContain('the process ended before the answer')
  })

  it('ends no message of which the record says something else by then', async () => {
    const seen: string[] = []
    const keyOf = (name: string) => JSON.stringify(['person', email(name)])
    const send: NonNullable<World['workspace']['notifier']>['send'] = async ({ key }) => {
      const told = one.ledger.fact('told')
      const given = { level: 85, state: 'failed', at: one.clock.now(), tries: 1, reason: 'theirs' } as const
      if (seen.length === 0 && told) one.ledger.saveFact('told', { ...told, entries: { [keyOf('ada')]: given } })
      seen.push(key)
      return { kind: 'sent' }
    }
    const parts = { notifier: { ...EMAIL_LABELS, settings: NOTIFY, send, kept: async () => [] } }
    const { one } = await loopUnder({ caps: { team: 1000 } }, { people: ['ada', 'bob'], caps: { team: 1000 }, parts }, (world) =>
      recordPast(world, uses({ ada: 900, bob: 1000 })),
    )
    await one.clock.pass(HOUR)
    expect(seen).toEqual([keyOf('bob'), keyOf('bob')])
    expect(one.events.filter(({ kind }) => kind === 'bug')).toEqual([])
    expect(one.ledger.fact('told')?.entries).toMatchObject({ [keyOf('ada')]: { state: 'failed' }, [keyOf('bob')]: { state: 'sent' } })
  })

  it('sends nothing that the ledger could not record', async () => {
    const broken = { is: true }
    const wrapLedger = (ledger: World['ledger']) =>
      failingLedger((method) => method === 'commit' && broken.is && ledger.fact('told') !== undefined)(ledger)
    const { one, mail } = await town({ ada: 900 }, { wrapLedger })
    await one.clock.pass(HOUR)
    expect(mail.connections).toBe(0)
    broken.is = false
    await one.clock.pass(HOUR)
    expect(receivers(mail)).toEqual(['ada@example.com'])
  })
})

describe('owners', () => {
  const owners = [{ of: { kind: 'group', id: 'grp_r' }, targets: [{ kind: 'webhook', name: 'chat' }] }] as const
  const HOURLY = { intervalMs: HOUR, usageIntervalMs: HOUR }

  it('of a group get one message in a cycle when its pool has reached 80 %, with its figures', async () => {
    const { one, hook, life } = await town({ ada: 500, bob: 330 }, { settings: { people: [], owners } })
    life.set({ pools: [{ name: 'research', credits: 1000, members: { kind: 'groups', ids: ['grp_r'] } }] })
    await one.clock.pass(6 * HOUR)
    const bodies: readonly unknown[] = hook.requests.map(({ body }) => JSON.parse(body))
    expect(bodies).toMatchObject([{ about: 'pool', values: { pool: 'research', used: 830, credits: 1000, left: 170, threshold: 80 } }])
  })

  it('get a digest by webhook, once a day, with people as hashes', async () => {
    const settings = { people: [], owners: [...owners, { ...owners[0], of: { kind: 'group', id: 'grp_s' } }], digest: 'daily' } as const
    const more = { groups: { grp_r: ['ada'], grp_s: ['ada'] }, label: () => 'a1b2c3d4e5f6', config: HOURLY }
    const { one, hook, life } = await town({ ada: 900 }, { settings, ...more })
    life.set({ caps: { team: 1000, 'group:grp_r': 1000, 'group:grp_s': 1000 } })
    // Each digest counts all up to its own time, also what is found while the one before it is sent, and from the last one on that arrived.
    const get = (): number => {
      const found = { scope: scope('team'), verified: 'none', observed: 'none', at: NOW + HOUR, more: 7 } as const
      one.ledger.saveFact('journal', [{ kind: 'foreign', ...found }])
      return [3, 4].includes(hook.requests.length) ? 404 : 200
    }
    Object.defineProperty(hook, 'status', { get })
    await one.clock.pass(45 * HOUR)
    expect(hook.requests.filter(({ request, body }) => request.url === SECRET_PATH && /1 foreign.*7 more/.test(body))).toHaveLength(5)
    expect(hook.requests[0]?.body).toMatch(/"about":"digest".*a1b2c3d4e5f6: 900 of 1000/)
    expect(hook.requests.map(({ body }) => body).join()).not.toContain('ada')
  })

  it('get a monthly digest of the last cycle, with the caps in force at its end', async () => {
    const { one, hook, life } = await town({ ada: 900, bob: 100 }, { settings: { people: [], owners, digest: 'monthly' }, config: HOURLY })
    await one.clock.pass(8 * DAY)
    await one.clock.pass(Date.UTC(2026, 11, 1, 1) - one.clock.now())
    life.set({ caps: { team: 1000, 'group:grp_r': 5000 } })
    await one.clock.pass(15 * HOUR)
    const bodies: readonly unknown[] = hook.requests.map(({ body }) => JSON.parse(body))
    const ended = { used: 1000, cycleEnd: '2026-12-01', nearCap: 1, people: ['ada@example.com: 900 of 1000'] }
    expect(bodies).toMatchObject([{ values: { day: '2026-11-20' } }, { values: { day: '2026-12-01', ...ended } }])
  })

  it('get it after a webhook that was busy, and never after one that refused it for good', async () => {
    const { one, hook } = await town({ ada: 900 }, { settings: { people: [], owners, digest: 'daily' } })
    hook.status = 503
    await one.clock.pass(HOUR)
    expect(hook.requests.length).toBeGreaterThan(1)
    hook.status = 404
    await one.clock.pass(2 * HOUR)
    const count = hook.requests.length
    hook.status = 200
    await one.clock.pass(6 * HOUR)
    expect(hook.requests).toHaveLength(count)
    expect(states(one)).toEqual(['failed'])
  })

  it('show no secret where a webhook fails', async () => {
    const { one, hook, secrets } = await town(
      { ada: 900 },
      { settings: { owners, digest: 'daily' }, faults: { AUTH: '535 no' }, config: HOURLY },
    )
    hook.server.close()
    hook.server.closeAllConnections()
    await one.clock.pass(21 * HOUR)
    const said = JSON.stringify([one.events, one.workspace.conditions, one.ledger.fact('told')])
    expect(said).toContain('NOTIFY_FAILED')
    expect(said).not.toMatch(/very-secret-path|pass word|services\/T000/)
    expect(new Set(secrets)).toEqual(new Set(['pass word', `${hook.url}${SECRET_PATH}`]))
  })
})
