// One person's working day as rows of use, drawn from the seed, the person and the day alone: agent, autocomplete, commands, legacy chat
// and typing. Decides nothing about caps or time. The amounts are choices: the interface describes only the fields of rows.
import { DAY_MS, HOUR_MS } from '../../core/model/units.ts'
import { COMMAND_SOURCES, INTENTS } from '../analytics/fields.ts'
import type { AgentUse, AutocompleteUse, ChatUse, CommandUse, TypingUse, UseRow } from '../use.ts'
import { type Habits, IDES, MODELS, versionOf } from './company.ts'
import { between, type Draw, pick, stream } from './random.ts'

export interface Worker {
  readonly person: number
  readonly habits: Habits
}

const WRITE_MODE = 'CONVERSATIONAL_PLANNER_MODE_DEFAULT'
const READ_MODE = 'CONVERSATIONAL_PLANNER_MODE_READ_ONLY'
const LEGACY_MODE = 'CONVERSATIONAL_PLANNER_MODE_NO_TOOL'
/** docs/service.md, Rows of the agent; write mode is the most frequent. */
export const MODES = [WRITE_MODE, WRITE_MODE, WRITE_MODE, READ_MODE, LEGACY_MODE, 'UNKNOWN'] as const

/** Every tool of the interface, how often a message uses it, and whether it only reads. */
export const TOOLS: readonly (readonly [tool: string, perMessage: number, reads: boolean])[] = [
  ['VIEW_FILE', 1.2, true],
  ['CODE_ACTION', 0.9, false],
  ['GREP_SEARCH', 0.7, true],
  ['RUN_COMMAND', 0.5, false],
  ['LIST_DIRECTORY', 0.4, true],
  ['FIND', 0.3, true],
  ['VIEW_FILE_OUTLINE', 0.3, true],
  ['MQUERY', 0.2, true],
  ['MCP_TOOL', 0.2, false],
  ['SEARCH_WEB', 0.12, true],
  ['MEMORY', 0.12, true],
  ['PROPOSE_CODE', 0.1, false],
  ['WORKFLOWS_USED', 0.06, false],
  ['PROXY_WEB_SERVER', 0.05, false],
  ['DEPLOY_WEB_APP', 0.04, false],
]

const CHAT_MODELS = ['MODEL_CHAT_MERIDIAN', 'MODEL_CHAT_MERIDIAN', 'MODEL_CHAT_CORVID', 'UNKNOWN'] as const

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
      mode: pick(draw, MODES),
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
  for (const [tool, perMessage, reads] of TOOLS) {
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
function autocompleteRows(worker: Worker, day: number, draw: Draw): readonly AutocompleteUse[] {
  const { person, habits } = worker
  const rows = new Map<string, AutocompleteUse>()
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

function commandRows(worker: Worker, day: number, draw: Draw): readonly CommandUse[] {
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
function chatRows(worker: Worker, day: number, draw: Draw): readonly ChatUse[] {
  const { person, habits } = worker
  return Array.from({ length: between(draw, 1, 4) }, () => {
    const [insertedAtCursor, applied] = [draw() < 0.2, draw() < 0.15]
    return {
      ...({ source: 'chat', person, at: instantOf(worker, day, draw), model: pick(draw, CHAT_MODELS) } as const),
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
function typingRows(worker: Worker, day: number, draw: Draw, autocomplete: readonly AutocompleteUse[]): readonly TypingUse[] {
  const { person, habits } = worker
  return [...new Set([habits.languages[0], ...autocomplete.map((row) => row.language)])].map((language) => ({
    ...({ source: 'typing', person, at: instantOf(worker, day, draw), language, ide: habits.codeIde } as const),
    version: versionOf(habits, day),
    bytes: between(draw, 300, 9000),
  }))
}
