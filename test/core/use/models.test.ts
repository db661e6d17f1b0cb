// Use by model, with what of it was paid from add-on credits: measured by the service, or shared out by use.
import { describe, expect, test } from 'vitest'
import { credits } from '../../../src/core/model/units.ts'
import { modelUse } from '../../../src/core/use/add-on.ts'

type ModelInputs = Parameters<typeof modelUse>[0]
type ModelUse = ReturnType<typeof modelUse>[number]

const run = (model: string, used?: number): ModelInputs['runs'][number] => ({ model, ...(used !== undefined && { used: credits(used) }) })
const measured = (...rows: readonly (readonly [string, number])[]): ModelInputs => ({ runs: [], measured: new Map(rows) })
const told = (rows: readonly ModelUse[]): readonly string[] =>
  rows.map((row) => ['model', 'used', 'addOn', 'addOnSource'].flatMap((key) => row[key as keyof ModelUse] ?? []).join(' '))

describe('use by model', () => {
  test.each<readonly [string, ModelInputs, readonly string[]]>([
    ['is that of its runs, in the order of the first', { runs: [run('b', 1), run('a', 2), run('b', 3)] }, ['b 4', 'a 2']],
    ['is of the runs that tell it', { runs: [run('a'), run('a', 2), run('b')] }, ['a 2', 'b']],
    ['shares nothing out to who tells no use', { runs: [run('a', 30), run('b')], whole: { addOn: 20 } }, ['a 30 20 estimated', 'b']],
    ['is less than runs tell where people came to less', { runs: [run('a', 40)], whole: { used: 20, addOn: 10 } }, ['a 40 10 estimated']],
    ['has no rest by rounding', { runs: [run('a', 5)], whole: { used: 5.9 } }, ['a 5']],
    ['has no rest where runs tell nothing', { runs: [run('a')], whole: { used: 9, addOn: 3 } }, ['a']],
    ['shares nothing out where nothing was used', { runs: [run('a', 0)], whole: { addOn: 20 } }, ['a 0']],
    ['shares nothing out that is not known', { runs: [run('a', 5)] }, ['a 5']],
    ['shares out where nothing was measured', { runs: [run('a', 5)], measured: new Map(), whole: { addOn: 2 } }, ['a 5 2 estimated']],
    ['is measured where anything was', { runs: [run('a', 5)], measured: new Map([['a', 1]]), whole: { addOn: 2 } }, ['a 5 1 measured']],
    ['is 0 of a model without a row', { runs: [run('a', 5)], measured: new Map([['b', 1]]) }, ['a 5 0 measured', 'b 1 measured']],
    [
      'is of the same model however it is spelled',
      { ...measured(['MODEL_LARGE_MODEL_4', 3], ['tiny-5', 1]), runs: [run('large model 4', 5), run('Tiny5', 2)] },
      ['large model 4 5 3 measured', 'Tiny5 2 1 measured'],
    ],
    ['adds up two spellings', measured(['MODEL_A_1', 3], ['a 1', 4]), ['a 1 7 measured']],
    [
      'is not known of models without a name',
      measured(['', 1], ['<nil>', 2], ['UNKNOWN', 4], ['Unknown 2', 8]),
      ['not known 7 measured', 'Unknown 2 8 measured'],
    ],
  ])('%s', (_name, inputs, expected) => expect(told(modelUse(inputs))).toEqual(expected))
})
