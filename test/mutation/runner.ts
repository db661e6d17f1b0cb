// Runs tests for Stryker in its own process: each test file is loaded once, and a break is asked of the tests that reach it, first those
// that mirror the broken file, the quick ones first, until one fails. A start of vitest for each break takes a hundred times as long.
// Never decides what is a break, or which tests reach it: Stryker does.
import { readFileSync, writeFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { relative, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { configureGlobal } from 'fast-check'
import { realClock } from '../support/real-clock.ts'
import { type CollectedTest, testsOf } from './collect.ts'

/** What Stryker's instrumented sources read and write. */
interface Instruments {
  activeMutant?: string | undefined
  currentTestId?: string | undefined
  hitCount?: number | undefined
  hitLimit?: number | undefined
  mutantCoverage?: unknown
}

interface MutantRun {
  readonly activeMutant: { readonly id: string; readonly fileName: string }
  readonly sandboxFileName: string
  readonly testFilter?: readonly string[]
  readonly hitLimit?: number
}

type Hits = Record<string, number>

/** What the tests did when nothing was broken; kept beside the copy, because a break may end the process. */
interface Unbroken {
  readonly times: Readonly<Record<string, number>>
  /** Breaks that tests reach as they run, and these test files as they are loaded. */
  readonly atLoad: Readonly<Record<string, readonly string[]>>
}

const COLLECT = new URL('./collect.ts', import.meta.url).href
const UNBROKEN = 'mutation-unbroken.json'

const scope: { __stryker__?: Instruments } = globalThis as never
scope.__stryker__ ??= {}
const instruments = scope.__stryker__

const clock = realClock()

/** Files loaded under another number are loaded anew. */
let generation = 0
/** Where Stryker's copy lies; the process goes there only after it has loaded this file. */
let copy = ''

registerHooks({
  resolve: (specifier, context, next) => {
    if (specifier === 'vitest' && !context.parentURL?.startsWith(COLLECT)) return { url: COLLECT, shortCircuit: true }
    const found = next(specifier, context)
    const isOurs = generation > 0 && found.url.startsWith(copy) && !found.url.includes('/node_modules/')
    return isOurs ? { ...found, url: `${found.url}?${generation}` } : found
  },
})

class InProcessRunner {
  #loaded = new Map<string, readonly CollectedTest[]>()
  #generations = 0

  init(): void {
    copy = pathToFileURL(resolve('.')).href
    // Nobody reads the smallest case here, and finding it takes many times as long as finding that there is one.
    configureGlobal({ seed: 1, endOnFailure: true })
  }

  capabilities() {
    return { reloadEnvironment: true }
  }

  async dryRun() {
    const tests = []
    const atLoad: Record<string, string[]> = {}
    const coverage: { static: Hits; perTest: Record<string, Hits> } = { static: {}, perTest: {} }
    instruments.mutantCoverage = coverage
    const sources = (process.env['CAPKEEPER_MUTATED'] ?? '').split(' ').map((path) => path.replace('src/', ''))
    for (const file of (process.env['CAPKEEPER_TESTS'] ?? '').split(' ')) {
      setThoroughness(sources.some((source) => file.startsWith(ownTests(source))))
      const before = { ...coverage.static }
      const own = await this.#testsOf(file)
      for (const [id, hits] of Object.entries(coverage.static)) if (hits > (before[id] ?? 0)) atLoad[id] = [...(atLoad[id] ?? []), file]
      for (const one of own) {
        instruments.currentTestId = one.id
        const start = clock.monotonic()
        const failure = await failureOf(one)
        const timeSpentMs = clock.monotonic() - start
        const told = { id: one.id, name: one.id, fileName: file, timeSpentMs }
        tests.push(failure === undefined ? { ...told, status: 0 } : { ...told, status: 1, failureMessage: failure })
        instruments.currentTestId = undefined
      }
    }
    await this.#checkLoadingAnew()
    for (const hits of Object.values(coverage.perTest)) for (const id of Object.keys(hits)) delete coverage.static[id]
    const idle = process.env['CAPKEEPER_IDLE']
    if (idle !== undefined) writeFileSync(idle, JSON.stringify(tests.map(({ id }) => id)))
    const unbroken: Unbroken = { times: Object.fromEntries(tests.map(({ id, timeSpentMs }) => [id, timeSpentMs])), atLoad }
    writeFileSync(UNBROKEN, JSON.stringify(unbroken))
    return { status: 'complete', tests, mutantCoverage: coverage }
  }

  /** A break that shows while files are loaded is asked once more of tests that are loaded with it. */
  async mutantRun({ activeMutant: { id }, sandboxFileName, testFilter, hitLimit }: MutantRun) {
    const { times, atLoad }: Unbroken = JSON.parse(readFileSync(UNBROKEN, 'utf8'))
    const source = relative(resolve('src'), sandboxFileName)
    instruments.hitLimit = hitLimit
    if (testFilter !== undefined) {
      for (const one of testFilter) await this.#testOf(one)
      const result = await this.#asked(id, source, inOrder(testFilter, times, source), hitLimit)
      if (result.status !== 'survived' || atLoad[id] === undefined) return result
    }
    const files = testFilter === undefined ? undefined : atLoad[id]
    const anew = Object.keys(times).filter((one) => files === undefined || files.includes(fileOf(one)))
    return this.#anew(() => this.#asked(id, source, inOrder(anew, times, source), hitLimit))
  }

  /** Runs something for which all files are loaded once more. */
  async #anew<Result>(run: () => Promise<Result>): Promise<Result> {
    const kept = this.#loaded
    this.#loaded = new Map()
    this.#generations += 1
    generation = this.#generations
    try {
      return await run()
    } finally {
      generation = 0
      this.#loaded = kept
    }
  }

  /** A file that is not loaded anew has no tests, and every break would seem to be noticed. */
  async #checkLoadingAnew(): Promise<void> {
    const [first] = this.#loaded
    if (first === undefined) return
    const again = await this.#anew(() => this.#testsOf(first[0]))
    if (again.length !== first[1].length) throw new Error(`${first[0]} was not loaded anew`)
  }

  async #asked(mutant: string, source: string, tests: readonly string[], hitLimit: number | undefined) {
    instruments.activeMutant = mutant
    instruments.hitCount = 0
    try {
      for (const [index, id] of tests.entries()) {
        setThoroughness(id.startsWith(ownTests(source)))
        const failure = await this.#failureOf(id)
        if (hitLimit !== undefined && (instruments.hitCount ?? 0) > hitLimit) return { status: 'timeout' }
        if (failure !== undefined) return { status: 'killed', killedBy: [id], failureMessage: failure, nrOfTests: index + 1 }
      }
      return { status: 'survived', nrOfTests: tests.length }
    } finally {
      instruments.activeMutant = undefined
    }
  }

  async #failureOf(id: string): Promise<string | undefined> {
    try {
      const one = await this.#testOf(id)
      return one === undefined ? 'the test is gone' : await failureOf(one)
    } catch (error) {
      return String(error)
    }
  }

  async #testOf(id: string): Promise<CollectedTest | undefined> {
    return (await this.#testsOf(fileOf(id))).find((one) => one.id === id)
  }

  async #testsOf(file: string): Promise<readonly CollectedTest[]> {
    const known = this.#loaded.get(file) ?? (await testsOf(pathToFileURL(resolve(file)).href, file))
    this.#loaded.set(file, known)
    return known
  }
}

const fileOf = (id: string): string => id.slice(0, id.indexOf('#'))

async function failureOf(one: CollectedTest): Promise<string | undefined> {
  try {
    await one.run()
    return undefined
  } catch (error) {
    return String(error).slice(0, 200)
  }
}

/** How the names of a file's own tests begin; its path is below src. */
const ownTests = (source: string): string => `test/${source.replace(/\.ts$/, '')}.`

/** A law that is about the broken file is tried as often as in any run; of the others a few cases are enough. */
function setThoroughness(isOwn: boolean): void {
  process.env['CAPKEEPER_FUZZ'] = isOwn ? '1' : '0.1'
}

/** A test of a folder elsewhere that takes longer is not asked: nearly all that it would notice, a quick one notices. */
const MOST_MS_ELSEWHERE = 100

/** The named tests first, then the tests of the broken file itself, then those of its folder and of those above it, then the others; of each the quick ones first. */
function inOrder(ids: readonly string[], times: Unbroken['times'], source: string): readonly string[] {
  const own = ownTests(source)
  const isNear = (id: string): boolean => own.startsWith(id.slice(0, fileOf(id).lastIndexOf('/') + 1))
  const first = (process.env['CAPKEEPER_FIRST'] ?? '').split(' ')
  const rank = (id: string): number => (first.includes(fileOf(id)) ? -1 : id.startsWith(own) ? 0 : isNear(id) ? 1 : 2)
  const timeOf = (id: string): number => times[id] ?? 0
  const asked = ids.filter((id) => rank(id) < 2 || timeOf(id) <= MOST_MS_ELSEWHERE)
  return asked.toSorted((a, b) => rank(a) - rank(b) || timeOf(a) - timeOf(b))
}

export const strykerPlugins = [{ kind: 'TestRunner', name: 'in-process', injectableClass: InProcessRunner }]
