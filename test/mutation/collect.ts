// In the place of `vitest` while breaks are tried: keeps the tests of a file as functions, so that one process can run any of them, again
// and again, within microseconds. What a test says is held by the real `expect`. Never used to tell whether the tests pass.
import { readFileSync } from 'node:fs'
import { chai, expect } from 'vitest'

export { expect }

/** A table is held against its file, which is never written here; nobody reads the difference. */
chai.util.addMethod(chai.Assertion.prototype, 'toMatchFileSnapshot', function (this: Chai.AssertionStatic, path: string) {
  if (chai.util.flag(this, 'object') !== readFileSync(path, 'utf8')) throw new Error(`${path} says something else`)
})

/** One test, with what its file does after each. */
export interface CollectedTest {
  readonly id: string
  readonly file: string
  readonly run: () => unknown
}

type Hook = () => unknown

const tests: CollectedTest[] = []
let file = ''
let path: readonly string[] = []
let after: Hook[] = []
let finished: Hook[] = []

/** Loads a test file and gives its tests. */
export async function testsOf(url: string, name: string): Promise<readonly CollectedTest[]> {
  tests.length = 0
  file = name
  path = []
  after = []
  await import(url)
  return [...tests]
}

function add(name: string, run: () => unknown): void {
  const hooks = after
  tests.push({
    id: `${file}#${tests.length} ${[...path, name].join(' > ')}`,
    file,
    run: async () => {
      finished = []
      try {
        await run()
      } finally {
        for (const hook of [...finished, ...hooks]) await hook()
      }
    },
  })
}

function group(name: string, body: () => void): void {
  const outer = path
  path = [...path, name]
  body()
  path = outer
}

type Each = (cases: readonly unknown[]) => (name: string, body: (...row: readonly unknown[]) => unknown) => void

const rowOf = (one: unknown): readonly unknown[] => (Array.isArray(one) ? one : [one])

const eachTest: Each = (cases) => (name, body) => {
  for (const one of cases) add(name, () => body(...rowOf(one)))
}

const eachGroup: Each = (cases) => (name, body) => {
  for (const one of cases) group(name, () => void body(...rowOf(one)))
}

export const test = Object.assign(add, { each: eachTest })
export const it = test
export const describe = Object.assign(group, { each: eachGroup })

/** For the tests that follow in the same file, which has one such hook at most. */
export function afterEach(hook: Hook): void {
  after.push(hook)
}

/** Outside of any test: when all breaks were tried. */
export const afterAll = (hook: Hook): unknown => process.once('exit', hook)

/** For the test that is running. */
export function onTestFinished(hook: Hook): void {
  finished.push(hook)
}

/** What a test says of a failure is of no use here. */
export const onTestFailed = (_hook: Hook): void => undefined
