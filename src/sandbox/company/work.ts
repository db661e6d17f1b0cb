// One person's working day as rows of use, drawn from the seed, the person and the day alone: agent, autocomplete, commands, legacy chat and
// typing; and how use grows as time passes. Decides nothing about caps or time. The amounts are choices: the interface describes only the
// fields of rows.
import { DAY_MS, HOUR_MS, type Instant } from '../../core/model/units.ts'
import { FIELDS } from '../analytics/fields.generated.ts'
import type { Store, StoredPerson } from '../store.ts'
import { cycleAt } from '../time.ts'
import type { AgentUse, UseOf, UseRow } from '../use.ts'
import { COMPANY } from './company.generated.ts'
import { between, type Draw, type Habits, habitsOf, IDES, MODELS, pick, stream, versionOf } from './company.ts'

const { commandSources: COMMAND_SOURCES, intents: INTENTS } = FIELDS

interface Worker {
  readonly person: number
  readonly habits: Habits
}

const READ_MODE = 'CONVERSATIONAL_PLANNER_MODE_READ_ONLY'
const LEGACY_MODE = 'CONVERSATIONAL_PLANNER_MODE_NO_TOOL'

/** Rows in no order, all within the UTC day `day`: local hours wrap around within it, so that no row belongs to another day. */
export function dayOf(seed: number, worker: Worker, day: number): readonly UseRow[] {
  const { person, habits } = worker
  const draw = stream(seed, `day/${person}/${day}`)
  // Day 0 of the epoch was a Thursday.
  const weekend = (day + 4) % 7 === 0 || (day + 4) % 7 === 6
  if (draw() >= (weekend ? habits.activity * 0.08 : habits.activity)) return []
  // Details have a stream of their own, so that a new detail does not change the credits.
  const detail = stream(seed, `detail/${person}/${day}`)
  const agent = agentRows(worker, day, draw, detail)
  const autocomplete = autocompleteRows(worker, day, detail)
  const commands = detail() < 0.5 ? commandRows(worker, day, detail) : []
  const chats = habits.codeIde !== 'editor' && detail() < 0.35 ? chatRows(worker, day, detail) : []
  return [...agent, ...autocomplete, ...commands, ...chats, ...typingRows(worker, day, detail, autocomplete)]
}

/** An instant in the working day; the sum of two draws makes the middle of the day busier than its ends. */
function instantOf({ habits }: Worker, day: number, draw: Draw): number {
  const localHour = 8 + (draw() + draw()) * 5.5
  const hour = (localHour - habits.offsetHours + 24) % 24
  return Math.floor(day * DAY_MS + hour * HOUR_MS)
}

function agentRows(worker: Worker, day: number, draw: Draw, detail: Draw): readonly AgentUse[] {
  const { person, habits } = worker
  const sessions = between(draw, Math.ceil(habits.sessionsPerDay / 2), Math.ceil(habits.sessionsPerDay * 1.5))
  const rows: AgentUse[] = []
  for (let conversation = 0; conversation < sessions; conversation += 1) {
    const messages = between(draw, 1, 12)
    const row = {
      ...({ source: 'agent', person, at: instantOf(worker, day, draw), conversation } as const),
      ide: draw() < 0.85 ? habits.ide : pick(draw, IDES),
      model: draw() < 0.7 ? habits.model : pick(draw, MODELS),
      mode: pick(draw, COMPANY.modes),
      messages,
      cents: Math.max(1, Math.round((habits.centsPerDay / habits.sessionsPerDay) * (0.3 + 1.4 * draw()))),
    }
    rows.push(...split({ ...row, ...effectsOf(row, detail) }, day, detail))
  }
  return rows
}

/** What the agent did: the terminal reports nothing, and only write mode writes. */
function effectsOf(
  { ide, mode, messages }: Pick<AgentUse, 'ide' | 'mode' | 'messages'>,
  draw: Draw,
): Pick<AgentUse, 'linesSuggested' | 'linesAccepted' | 'tools'> {
  if (ide === 'cli' || mode === LEGACY_MODE) return { linesSuggested: 0, linesAccepted: 0, tools: {} }
  const linesSuggested = mode === READ_MODE ? 0 : messages * between(draw, 2, 30)
  const tools: Record<string, number> = {}
  for (const { tool, perMessage, reads } of COMPANY.tools) {
    const count = Math.floor(perMessage * messages * 2 * draw() + draw())
    if (count > 0 && (reads || mode !== READ_MODE)) tools[tool] = count
  }
  return { linesSuggested, linesAccepted: Math.floor(linesSuggested * draw()), tools }
}

/** Some conversations are split into two entries, the later one without its mode or its model. docs/service.md, as above. */
function split(row: AgentUse, day: number, draw: Draw): readonly AgentUse[] {
  if (draw() >= 0.12 || row.cents < 2) return [row]
  const cents = between(draw, 1, row.cents - 1)
  const messages = between(draw, 0, row.messages - 1)
  const later = Math.min(row.at + between(draw, 1, 40) * 60_000, (day + 1) * DAY_MS - 1)
  const unknown = draw() < 0.5 ? { mode: 'UNKNOWN' } : { model: 'UNKNOWN' }
  return [
    { ...row, cents, messages: row.messages - messages },
    { ...row, ...unknown, at: later, cents: row.cents - cents, messages, linesSuggested: 0, linesAccepted: 0, tools: {} },
  ]
}

/** One row for each hour and language; sometimes no suggestion was accepted. */
function autocompleteRows(worker: Worker, day: number, draw: Draw): readonly UseOf<'autocomplete'>[] {
  const { person, habits } = worker
  const rows = new Map<string, UseOf<'autocomplete'>>()
  for (let hours = between(draw, 1, 2 + habits.sessionsPerDay); hours > 0; hours -= 1) {
    const at = instantOf(worker, day, draw)
    const language = languageOf(habits, draw)
    const acceptances = draw() < 0.05 ? 0 : between(draw, 1, 40)
    const linesAccepted = Math.ceil(acceptances * (1 + 1.5 * draw()))
    const bytesAccepted = linesAccepted * between(draw, 18, 46)
    const place = { person, at, language, ide: habits.codeIde, version: versionOf(habits, day) }
    rows.set(`${Math.floor(at / HOUR_MS)} ${language}`, { source: 'autocomplete', ...place, acceptances, linesAccepted, bytesAccepted })
  }
  return [...rows.values()]
}

const languageOf = ({ languages }: Habits, draw: Draw): string => languages[draw() < 0.75 ? 0 : 1]

function commandRows(worker: Worker, day: number, draw: Draw): readonly UseOf<'command'>[] {
  const { person, habits } = worker
  return Array.from({ length: between(draw, 1, 4) }, () => {
    const place = { person, at: instantOf(worker, day, draw), language: languageOf(habits, draw) }
    const commandSource = draw() < 0.6 ? COMMAND_SOURCES[1] : pick(draw, COMMAND_SOURCES)
    const edits = draw() < 0.6
    const linesAdded = between(draw, 1, 40)
    const linesRemoved = edits ? between(draw, 0, 25) : 0
    const selectionLines = edits ? between(draw, 1, 30) : 0
    return {
      ...({ source: 'command', ...place, ide: habits.codeIde, version: versionOf(habits, day), commandSource } as const),
      providerSource: edits ? 'PROVIDER_SOURCE_COMMAND_EDIT' : 'PROVIDER_SOURCE_COMMAND_GENERATE',
      ...{ linesAdded, linesRemoved, selectionLines },
      bytesAdded: linesAdded * between(draw, 18, 46),
      bytesRemoved: linesRemoved * between(draw, 18, 46),
      selectionBytes: selectionLines * between(draw, 18, 46),
      accepted: draw() < 0.75,
    }
  })
}

/** Only the legacy plugins have the chat. */
function chatRows(worker: Worker, day: number, draw: Draw): readonly UseOf<'chat'>[] {
  const { person, habits } = worker
  return Array.from({ length: between(draw, 1, 4) }, () => {
    const [insertedAtCursor, applied] = [draw() < 0.2, draw() < 0.15]
    return {
      ...({ source: 'chat', person, at: instantOf(worker, day, draw), model: pick(draw, COMPANY.chatModels) } as const),
      ...{ ide: habits.codeIde, version: versionOf(habits, day) },
      intent: draw() < 0.6 ? INTENTS[0] : pick(draw, INTENTS),
      chatsReceived: draw() < 0.8 ? 1 : between(draw, 2, 4),
      accepted: draw() < 0.15,
      ...{ insertedAtCursor, applied },
      linesUsed: insertedAtCursor || applied ? between(draw, 1, 40) : 0,
    }
  })
}

/** Typed code: one row a day for each language of the autocomplete rows and for the main language. */
function typingRows(worker: Worker, day: number, draw: Draw, autocomplete: readonly UseOf<'autocomplete'>[]): readonly UseOf<'typing'>[] {
  const { person, habits } = worker
  return [...new Set([habits.languages[0], ...autocomplete.map((row) => row.language)])].map((language) => ({
    ...({ source: 'typing', person, at: instantOf(worker, day, draw), language, ide: habits.codeIde } as const),
    version: versionOf(habits, day),
    bytes: between(draw, 300, 9000),
  }))
}

interface GrowthOptions {
  readonly store: Store
  readonly seed: number
  /** The cap in force for a person, in credits. */
  readonly capOf: (person: number) => number | undefined
  /** `false`: only `record` adds use. */
  readonly working: boolean
}

/** Use in the current cycle, kept so that a cap is checked without summing the rows again. */
type Tally = ReturnType<typeof openCycle>

/** The store has the rows up to its `grownUntil`; the first call of `growTo` continues from there. */
export function createGrowth({ store, seed, capOf, working }: GrowthOptions) {
  let grownUntil = store.meta('grownUntil') ?? 0
  let tally = openCycle(store, grownUntil)
  let workers: readonly Worker[] | undefined
  /** The rows of the current day by time, and the index of the next one. */
  let day = { number: Number.NaN, rows: [] as readonly UseRow[], next: 0 }

  const record = (row: AgentUse): void => {
    store.addUse(row)
    const before = tally.usedCents.get(row.person) ?? 0
    const after = before + row.cents
    tally.usedCents.set(row.person, after)
    tally.addOnCents += Math.max(0, after - tally.perSeatCents) - Math.max(0, before - tally.perSeatCents)
  }
  const take = (row: UseRow): void => {
    if (row.source !== 'agent') {
      store.addUse(row)
      return
    }
    const cents = Math.min(row.cents, roomCents(tally, row.person, capOf))
    if (cents > 0) record(cents === row.cents ? row : { ...row, cents })
  }
  const openDay = (number: number): void => {
    workers ??= workersOf(store.people(), seed)
    const rows = working ? workers.flatMap((worker) => dayOf(seed, worker, number)) : []
    rows.sort((a, b) => a.at - b.at || a.person - b.person)
    // Rows up to `grownUntil` were written already.
    const due = rows.findIndex((row) => row.at > grownUntil)
    day = { number, rows, next: due < 0 ? rows.length : due }
  }
  const growDay = (until: Instant): void => {
    for (let row = day.rows[day.next]; row && row.at <= until; row = day.rows[day.next]) {
      take(row)
      day.next += 1
    }
  }
  const grow = (now: Instant): void => {
    for (let number = Math.floor(grownUntil / DAY_MS); number * DAY_MS <= now; number += 1) {
      if (day.number !== number) openDay(number)
      if (number * DAY_MS >= tally.endAt) tally = openCycle(store, number * DAY_MS)
      growDay(now)
    }
    grownUntil = now
    store.setMeta('grownUntil', now)
  }
  return {
    /** Records use as a fact, whatever the caps say. */
    record: (row: AgentUse): void => store.transaction(() => record(row)),
    /** Writes the rows up to `now`; cheap when none is due. */
    growTo(now: Instant): void {
      const dayIsOver = Math.floor(now / DAY_MS) !== day.number
      const next = day.rows[day.next]
      if (now > grownUntil && (dayIsOver || (next && next.at <= now))) store.transaction(() => grow(now))
    },
    /** Call it after people or figures of the balance were changed in the store. */
    reload(): void {
      tally = openCycle(store, grownUntil)
      workers = undefined
      day = { number: Number.NaN, rows: [], next: 0 }
    },
  }
}

/** What a person may still use: the rest of the seat's credits, and of add-on credits the lesser rest of their cap and the team's. */
function roomCents(tally: Tally, person: number, capOf: (person: number) => number | undefined): number {
  const perSeat = tally.perSeatCents
  const used = tally.usedCents.get(person) ?? 0
  const cap = capOf(person)
  const addOnUsed = Math.max(0, used - perSeat)
  const capRoom = cap === undefined ? Number.POSITIVE_INFINITY : Math.max(0, cap * 100 - addOnUsed)
  const teamRoom = Math.max(0, tally.addOnLimitCents - tally.addOnCents)
  return Math.max(0, perSeat - used) + Math.min(capRoom, teamRoom)
}

/**
 * Starts or resumes the cycle of `at`. Add-on credits are recomputed at each cycle start from the previous cycle's consumption
 * (docs/service.md, GetTeamCreditBalance): a quarter more than was used, and one seat's worth per seat at least. Choice.
 */
function openCycle(store: Store, at: Instant) {
  const cycle = cycleAt(at)
  const perSeat = (store.meta('creditsPerSeat') ?? 0) * 100
  const addOnOf = (used: ReadonlyMap<number, number>): number => used.values().reduce((sum, cents) => sum + Math.max(0, cents - perSeat), 0)
  if (store.meta('cycleStart') !== cycle.startAt) {
    const before = cycleAt(cycle.startAt - 1)
    const previous = addOnOf(store.usedCents({ fromAt: before.startAt, untilAt: before.endAt - 1 }))
    const floor = (store.meta('seats') ?? 0) * (store.meta('creditsPerSeat') ?? 0)
    store.setMeta('addOnAvailable', Math.max(floor, Math.ceil((previous * 1.25) / 100_000) * 1000))
    store.setMeta('cycleStart', cycle.startAt)
  }
  const usedCents = new Map(store.usedCents({ fromAt: cycle.startAt, untilAt: cycle.endAt - 1 }))
  const addOnLimitCents = (store.meta('addOnAvailable') ?? 0) * 100
  return { endAt: cycle.endAt, usedCents, addOnCents: addOnOf(usedCents), perSeatCents: perSeat, addOnLimitCents }
}

/** Only approved people with access use anything. */
const workersOf = (people: readonly StoredPerson[], seed: number): readonly Worker[] =>
  people.filter((one) => one.status === 'APPROVED' && !one.disabled).map((one) => ({ person: one.id, habits: habitsOf(seed, one.id) }))
