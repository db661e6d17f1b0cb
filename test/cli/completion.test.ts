import { execFileSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { run } from './world.ts'

const complete = (script: string, ...words: readonly string[]): readonly string[] => {
  const line = words.map((word) => `'${word}'`).join(' ')
  const ask = `${script}\nCOMP_WORDS=(${line}); COMP_CWORD=${words.length - 1}; _capkeeper; printf '%s\\n' "\${COMPREPLY[@]}"`
  return execFileSync('bash', ['-c', ask], { encoding: 'utf8' }).trim().split('\n')
}

describe('completion for bash', () => {
  test.each([
    ['commands', ['capkeeper', 'va'], ['validate']],
    ['the flags of a command', ['capkeeper', 'validate', '--con'], ['--config']],
    ['the values of a flag', ['capkeeper', 'history', '--output', ''], ['text', 'json']],
    ['commands of a command', ['capkeeper', 'ledger', 'b'], ['backup']],
    ['the flags of a nested command', ['capkeeper', 'ledger', 'backup', '--l'], ['--ledger']],
    ['the values of an argument', ['capkeeper', 'schema', 'p'], ['policy']],
  ])('completes %s', async (_name, words, expected) => {
    const { stdout } = await run(['completion', 'bash'])
    expect(complete(stdout, ...words)).toEqual(expected)
  })
})

describe('completion', () => {
  test.each(['zsh', 'fish'])('for %s knows every command', async (shell) => {
    const { stdout, code } = await run(['completion', shell])
    expect(code).toBe(0)
    for (const name of ['approve', 'doctor', 'pause', 'validate', 'ledger', 'backup']) expect(stdout).toContain(name)
  })

  test('for an unknown shell is wrong usage', async () => {
    expect(await run(['completion', 'tcsh'])).toMatchObject({ code: 64, stdout: '' })
  })
})
