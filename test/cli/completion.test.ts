// The scripts are run by the shells they are for, where those are installed.
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { temporaryFolder } from '../support/temporary.ts'
import { run } from './world.ts'

type Row = readonly [what: string, words: readonly string[], expected: readonly string[]]

const ROWS: readonly Row[] = [
  ['commands', ['capkeeper', 'va'], ['validate']],
  ['the flags of a command', ['capkeeper', 'validate', '--con'], ['--config']],
  ['the values of a flag', ['capkeeper', 'history', '--output', ''], ['json', 'text']],
  ['the values of a flag that others have too', ['capkeeper', 'report', '--output', 'm'], ['markdown']],
  ['commands of a command', ['capkeeper', 'ledger', 'b'], ['backup']],
  ['the edits', ['capkeeper', 'edit', 'gr'], ['grant']],
  ['a flag of an edit', ['capkeeper', 'edit', 'grant', '--ex'], ['--extend']],
  ['the flags of a nested command', ['capkeeper', 'ledger', 'backup', '--l'], ['--ledger']],
  ['the values of an argument', ['capkeeper', 'schema', 'p'], ['policy']],
]

const hasShell = (name: string): boolean => {
  try {
    return execFileSync(name, ['-c', 'echo there'], { encoding: 'utf8', stdio: 'pipe' }).includes('there')
  } catch {
    return false
  }
}

const script = async (shell: string): Promise<string> => (await run(['completion', shell])).stdout
const quoted = (words: readonly string[]): string => words.map((word) => `'${word}'`).join(' ')
const ask = (shell: string, ...argv: readonly string[]): readonly string[] =>
  execFileSync(shell, argv, { encoding: 'utf8' }).trim().split('\n').filter(Boolean).toSorted()

const inBash = (text: string, words: readonly string[]) =>
  ask('bash', '-c', `${text}\nCOMP_WORDS=(${quoted(words)}); COMP_CWORD=${words.length - 1}; _capkeeper; printf '%s\\n' "\${COMPREPLY[@]}"`)

/** zsh's own compadd works only at a prompt; this one says what would be added, by the same rule. */
const ZSH_PROMPT = [
  'compdef() { : }',
  '_files() { print FILES }',
  'compadd() { local found=1; for word in $@[2,-1]; do [[ $word == "$words[CURRENT]"* ]] && { print -- $word; found=0 }; done; return $found }',
].join('\n')

const inZsh = (text: string, words: readonly string[]) =>
  ask('zsh', '-f', '-c', `${ZSH_PROMPT}\n${text}\nwords=(${quoted(words)}); CURRENT=${words.length}; _capkeeper`)

const inFish = (text: string, words: readonly string[]) =>
  ask('fish', '--no-config', '-c', `${text}\ncomplete -C "${words.join(' ')}"`).map((line) => line.split('\t', 1)[0] ?? '')

describe.each([
  ['bash', inBash],
  ['zsh', inZsh],
  ['fish', inFish],
] as const)('completion', (shell, complete) => {
  describe.skipIf(!hasShell(shell))(`in ${shell}`, () => {
    test.each(ROWS)('completes %s', async (_name, words, expected) => {
      expect(complete(await script(shell), words)).toEqual(expected)
    })
  })
})

describe('completion leaves to the shell', () => {
  test.skipIf(!hasShell('bash'))('the value of a flag that may be a file, in bash', async () => {
    expect(inBash(await script('bash'), ['capkeeper', 'plan', '--policies', ''])).toEqual([])
  })

  test.skipIf(!hasShell('zsh')).each([
    ['the value of a flag that may be a file', ['capkeeper', 'plan', '--policies', '']],
    ['an argument that is no word of capkeeper', ['capkeeper', 'validate', 'pol']],
  ])('%s, in zsh', async (_name, words) => {
    expect(inZsh(await script('zsh'), words)).toEqual(['FILES'])
  })

  test.skipIf(!hasShell('fish')).each([
    ['a file', ['capkeeper', 'plan', '--policies', '/et']],
    ['a file of a nested command', ['capkeeper', 'ledger', 'backup', '/et']],
  ])('%s, in fish', async (_name, words) => {
    expect(inFish(await script('fish'), words)).toContain('/etc/')
  })
})

describe.skipIf(!hasShell('fish'))('completion in fish offers nothing of', () => {
  test.each([
    ['the neighbours of a nested command', ['capkeeper', 'ledger', 'backup', 'che']],
    ['a command that is named like an edit', ['capkeeper', 'edit', 'approve', '--led']],
    ['a command that is named in a value', ['capkeeper', 'history', '--workspace', 'plan', '--detailed']],
  ])('%s', async (_name, words) => {
    expect(inFish(await script('fish'), words)).toEqual([])
  })
})

test.skipIf(!hasShell('zsh'))('completion answers at its first call from a folder of fpath, in zsh', async () => {
  const folder = temporaryFolder()
  writeFileSync(join(folder, '_capkeeper'), await script('zsh'))
  expect(inZsh(`fpath=('${folder}' $fpath); autoload -Uz _capkeeper`, ['capkeeper', 'imp'])).toEqual(['import'])
})

test.each(['zsh', 'fish'])('completion for %s knows every command', async (shell) => {
  const { stdout, code } = await run(['completion', shell])
  expect(code).toBe(0)
  for (const name of ['approve', 'audit', 'doctor', 'import', 'pause', 'report', 'validate', 'ledger', 'backup'])
    expect(stdout).toContain(name)
})
