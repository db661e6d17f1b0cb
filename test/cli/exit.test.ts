import { describe, expect, test } from 'vitest'
import { type ExitCode, worstExit } from '../../src/cli/shared/exit.ts'

describe('the exit code of a command that ended in several ways', () => {
  const rows: readonly (readonly [string, readonly ExitCode[], ExitCode])[] = [
    ['nothing to report is done', [], 0],
    ['all done is done', [0, 0], 0],
    ['pending wins over done', [0, 2], 2],
    ['held wins over pending', [2, 3, 0], 3],
    ['applied in part wins over held', [3, 4], 4],
    ['failed is what all did', [1, 1], 1],
    ['one that failed beside one that did not makes it part', [1, 0], 4],
    ['a part wins over held, also where the rest failed', [3, 1], 4],
    ['invalid input wins over failed', [1, 65], 65],
    ['wrong usage wins over everything', [65, 1, 4, 3, 2, 0, 64], 64],
  ]
  test.each(rows)('%s', (_name, codes, expected) => {
    expect(worstExit(codes)).toBe(expected)
  })
})
