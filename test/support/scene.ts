// Plays a scene: a text that reads as a page of the manual, with files, a service, commands and what they print. The service is the embedded one
// over real HTTP, commands run inside the test, and the calendar stands still unless the scene moves it. test/scenes/README.md has the format.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Clock } from '../../src/ports.ts'
import { readFixture } from '../../src/sandbox/fixture/file.ts'
import { parseSettings, parseSwitches } from '../../src/sandbox/switches.ts'
import { inside, serving } from './inside.ts'
import { realClock } from './real-clock.ts'
import { type SandboxFixture, startSandbox } from './sandbox.ts'

/** When every scene begins: in the middle of the service's billing cycle. */
const BEGINS = Date.UTC(2026, 10, 20, 12)
const UNITS_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** One line that does something, with the lines that belong to it. */
interface Step {
  readonly verb: string
  readonly rest: string
  readonly block: readonly string[]
}

interface Stage {
  readonly folder: string
  readonly clock: Clock & { advance(ms: number): void }
  service?: SandboxFixture
  daemon?: { readonly url: string; end(): Promise<unknown> }
  /** Requests up to here were shown by an earlier `writes`. */
  seen: number
}

/** Plays the scene and returns its text with what really happened, which equals the given text while the program does what the scene says. */
export async function play(text: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'scene-'))
  const stage: Stage = { folder, clock: stoppedCalendar(), seen: 0 }
  try {
    const out: string[] = []
    for (const part of parts(text)) out.push(...(typeof part === 'string' ? [part] : await perform(part, stage)))
    return `${out.join('\n').trimEnd()}\n`
  } finally {
    await stage.daemon?.end()
    await stage.service?.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The calendar stands still; waiting takes its real time, because network and files are real: hurried, a file would seem to be silent for too long. */
function stoppedCalendar(): Stage['clock'] {
  let now = BEGINS
  const advance = (ms: number): void => {
    now += ms
  }
  return { ...realClock(), now: () => now, advance }
}

/** Prose and blank lines as they are, steps with their blocks. */
function parts(text: string): readonly (string | Step)[] {
  const found: (string | Step)[] = []
  let block: string[] | undefined
  for (const line of text.trimEnd().split('\n')) {
    if (/^[|!]/.test(line)) {
      if (!block) throw new Error(`this line belongs to no step: ${line}`)
      block.push(line)
      continue
    }
    block = undefined
    if (line === '' || line.startsWith('#')) {
      found.push(line)
      continue
    }
    const [verb = '', ...rest] = line.split(' ')
    block = []
    found.push({ verb, rest: rest.join(' '), block })
  }
  return found
}

async function perform(step: Step, stage: Stage): Promise<readonly string[]> {
  const line = `${step.verb} ${step.rest}`.trimEnd()
  switch (step.verb) {
    case 'file':
      put(stage, step.rest, step.block.map(unquoted))
      return [line, ...step.block]
    case 'remove':
      rmSync(join(stage.folder, step.rest), { recursive: true })
      return [line]
    case 'show':
      return [line, ...quoted('|', readFileSync(join(stage.folder, step.rest), 'utf8'), stage)]
    case 'service':
      await open(stage, step.rest)
      return [line]
    case 'daemon':
      stage.daemon = await startDaemon(step.rest, stage)
      return [line]
    case 'ask':
      return [line, ...quoted('|', await asked(step.rest, await serviceOf(stage)), stage)]
    case 'get':
      return [line, ...quoted('|', await got(step.rest, stage), stage)]
    case 'cap':
      setCap(await serviceOf(stage), step.rest)
      return [line]
    case 'advance':
      stage.clock.advance(durationMs(step.rest))
      return [line]
    case 'writes':
      return [line, ...quoted('|', writes(stage), stage)]
    case '$':
      return command(step.rest.replace(/ +# exit \d+$/, ''), stage)
    default:
      throw new Error(`unknown step: ${line}`)
  }
}

/** Strips the mark; a lone mark is an empty line. */
const unquoted = (line: string): string => line.slice(2)

function put(stage: Stage, name: string, lines: readonly string[]): void {
  const path = join(stage.folder, name)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(
    path,
    lines
      .map((line) => `${line}\n`)
      .join('')
      .replaceAll('http://service', stage.service?.url ?? 'http://service'),
    // Owner only, as for keys.
    { mode: 0o600 },
  )
}

/** `--name value` pairs: the flags of `capkeeper sandbox`. */
async function open(stage: Stage, flags: string): Promise<void> {
  await stage.service?.close()
  const texts = Object.fromEntries([...flags.matchAll(/--(\S+) (\S+)/g)].map(([, name = '', value = '']) => [camel(name), value]))
  const settings = parseSettings(texts)
  const switches = parseSwitches(texts)
  if (settings.kind === 'problems' || switches.kind === 'problems') throw new Error(`these are no flags of the sandbox: ${flags}`)
  const given = Object.fromEntries(Object.entries(settings.values).filter(([name]) => name in texts))
  const fixture = texts['fixture'] === undefined ? {} : { fixture: fixtureIn(stage, texts['fixture']) }
  stage.service = await startSandbox({ clock: stage.clock, working: false, ...given, ...switches.values, ...fixture })
  stage.seen = 0
  put(stage, 'key', ['sandbox-admin'])
  put(stage, 'config.yaml', DEFAULT_CONFIG)
}

const fixtureIn = ({ folder, clock }: Stage, name: string) => readFixture(name, readFileSync(join(folder, name), 'utf8'), clock.now())

const camel = (name: string): string => name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase())

/** As quick as the service answers; a scene that needs another writes its own. */
const DEFAULT_CONFIG = `apiVersion: capkeeper/v1
kind: Config
ledger: capkeeper.db
workspaces:
  - name: acme
    baseUrl: http://service
    keys: {default: {file: key}}
    policies: [policies]
    rate: {start: 1000, max: 1000, concurrency: 1}`.split('\n')

async function serviceOf(stage: Stage): Promise<SandboxFixture> {
  if (!stage.service) await open(stage, '')
  if (!stage.service) throw new Error('no service')
  return stage.service
}

/** Runs beside the commands of the scene, on a free port, once it has looked at every workspace. */
async function startDaemon(flags: string, stage: Stage): Promise<NonNullable<Stage['daemon']>> {
  await serviceOf(stage)
  const argv = ['run', '--config', join(stage.folder, 'config.yaml'), '--listen', '127.0.0.1:0', ...words(flags)]
  const daemon = await serving(argv, /"page":"(.*?)\/"/, {}, stage.clock)
  while (!(await fetch(`${daemon.url}/readyz`)).ok) await stage.clock.sleep(10)
  return daemon
}

/** Status and type of what the daemon answers, and its text; of a document only the lines that match, where a pattern is given. */
async function got(question: string, { daemon }: Stage): Promise<string> {
  const [path = '', pattern] = question.split(' | grep ')
  const answer = await fetch(`${daemon?.url}${path}`)
  if (pattern === undefined) return `${answer.status} ${answer.headers.get('content-type')}\n${await answer.text()}`
  return linesOf(await answer.json(), pattern)
}

/** Status and text of what the service answers; of a document only the lines that match, where a pattern is given. */
async function asked(question: string, { url }: SandboxFixture): Promise<string> {
  const [said = '', pattern] = question.split(' | grep ')
  const [, operation = '', key = 'sandbox-admin', more = '{}'] = /^(\S+)(?: as (\S+))?(?: (\{.*))?$/.exec(said) ?? []
  const body = JSON.stringify({ ...(key !== 'nobody' && { service_key: key }), ...JSON.parse(more) })
  const answer = await fetch(`${url}/api/v1/${operation}`, { method: 'POST', body })
  const text = await answer.text()
  if (pattern !== undefined) return linesOf(JSON.parse(text), pattern)
  const type = answer.headers.get('content-type') ?? ''
  const again = answer.headers.get('retry-after')
  const head = [answer.status, type.replace('application/json; charset=utf-8', ''), again === null ? '' : `Retry-After: ${again}`]
  return [...head, text].filter((part) => part !== '').join(' ')
}

const linesOf = (document: unknown, pattern: string): string =>
  JSON.stringify(document, undefined, 2)
    .split('\n')
    .filter((one) => new RegExp(pattern).test(one))
    .join('\n')

/** `SCOPE N` or `SCOPE none`, written by somebody else. */
function setCap(service: SandboxFixture, rest: string): void {
  const [scope = '', cap = ''] = rest.split(' ')
  service.setCap(scope, cap === 'none' ? undefined : Number(cap))
}

function durationMs(text: string): number {
  const [, number, unit = ''] = /^(\d+)([smhd])$/.exec(text) ?? []
  const ms = UNITS_MS[unit]
  if (ms === undefined) throw new Error(`${text} is no duration; write 20m, 6h or 3d`)
  return Number(number) * ms
}

/** What reached the service since the last time, in order. */
function writes(stage: Stage): string {
  const log = stage.service?.calls.log ?? []
  const lines = log.slice(stage.seen).flatMap(({ operation, body }) => (operation === 'UsageConfig' ? [written(body)] : []))
  stage.seen = log.length
  return lines.length > 0 ? lines.join('\n') : 'none'
}

function written(body: Readonly<Record<string, unknown>>): string {
  const scope = body['team_level'] === true ? 'team' : (body['user_email'] ?? `group:${String(body['group_id'])}`)
  return `${String(scope)} ${String(body['set_add_on_credit_cap'] ?? 'clear')}`
}

async function command(line: string, stage: Stage): Promise<readonly string[]> {
  const service = await serviceOf(stage)
  const [typed = '', pattern = ''] = line.split(' | grep ')
  const said = words(typed).map((word) =>
    word.replace('http://service', service.url).replace('http://daemon', stage.daemon?.url ?? 'http://daemon'),
  )
  const begins = said.indexOf('capkeeper')
  if (begins === -1) throw new Error(`a scene runs capkeeper, not ${said[0]}`)
  const [before, argv] = [said.slice(0, begins), said.slice(begins + 1)]
  const variables = Object.fromEntries(before.map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]))
  const env = { CAPKEEPER_CONFIG: 'config.yaml', NO_COLOR: '1', ...variables }
  const ran = await inside(argv, {
    cwd: stage.folder,
    env,
    clock: stage.clock,
  })
  const shown = [...quoted('|', ran.stdout, stage), ...quoted('!', ran.stderr, stage)].filter((one) => new RegExp(pattern).test(one))
  return [`$ ${line}${ran.code === 0 ? '' : `  # exit ${ran.code}`}`, ...shown]
}

/** Words apart, with what stands in quotes as one. */
const words = (line: string): readonly string[] => [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, whole, word]) => whole ?? word ?? '')

/** Each line behind its mark, without what differs from run to run: the folder, the address, how long an answer took, how full the disk is. */
function quoted(mark: string, text: string, { folder, service, daemon }: Stage): readonly string[] {
  if (text === '') return []
  const told = text
    .replaceAll(service?.url ?? '\0', 'http://service')
    .replaceAll(daemon?.url ?? '\0', 'http://daemon')
    .replaceAll(`${folder}/`, '')
    .replaceAll(folder, '.')
    .replace(/\b\d+ ms\b/g, 'N ms')
    .replace(/("\w+Ms"):\d+/g, '$1:N')
    .replace(/ in \d+\.\d s\b/g, ' in N s')
    .replace(/[\d,]+ MiB free/g, 'N MiB free')
    .replace(/\bgroup:[0-9a-f]{12}\b/g, 'group:HASH')
  return told
    .replace(/\n$/, '')
    .split('\n')
    .map((line) => `${mark} ${line}`.trimEnd())
}
