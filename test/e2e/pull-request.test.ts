// What the action of deploy/ci does on a pull request, by its own scripts: plans with the real program on the sandbox, then the comment.
import { execFile } from 'node:child_process'
import { chmodSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openLedger } from '../../src/daemon/ledger/ledger.ts'
import { fakeGithub, GITHUB_TOKEN } from '../support/github.ts'
import { MAIN, type Ran } from '../support/process.ts'
import { realClock } from '../support/real-clock.ts'
import { recordCompany } from '../support/recorded.ts'
import { configText, policyText, type World, workspace, world, written } from './world.ts'

const ACTION = join(import.meta.dirname, '../../deploy/ci/action')

const runs = (program: string, argv: readonly string[], env: Readonly<Record<string, string>>, cwd: string): Promise<Ran> =>
  new Promise((resolve) => {
    execFile(program, argv, { env, cwd }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    )
  })

/** A folder with a `capkeeper` to put before PATH. */
function installed(at: World): string {
  chmodSync(at.write('bin/capkeeper', `#!/bin/sh\nexec "${process.execPath}" "${MAIN}" "$@"\n`), 0o755)
  return `${at.path('bin')}:${process.env['PATH']}`
}

test('a pull request gets one comment, which follows its commits, also when a plan fails, and nothing is written to the service', async () => {
  const at = await world()
  const github = await fakeGithub()
  const [acme, globex] = ['acme', 'globex'].map((name) => ({
    ...workspace(name, `${at.service.url}/${name}`),
    policies: [`policies/${name}.yaml`],
  }))
  at.write('config.yaml', configText([acme ?? {}, globex ?? {}]))
  const env = {
    PATH: installed(at),
    OUT: at.path('out'),
    CAPKEEPER_CONFIG: at.path('config.yaml'),
    CAPKEEPER_LEDGER: ':memory:',
    // As GitHub hands over inputs that were left empty.
    CAPKEEPER_POLICIES: '',
    CAPKEEPER_BASE_URL: '',
    CAPKEEPER_SERVICE_KEY: '',
    WORKSPACES: 'acme globex',
  }
  const ofJob = {
    PATH: env.PATH,
    GITHUB_API_URL: github.url,
    GITHUB_SERVER_URL: 'https://git.example.com',
    GITHUB_REPOSITORY: 'acme/policies',
    GITHUB_RUN_ID: '9',
    GITHUB_TOKEN,
    GITHUB_STEP_SUMMARY: at.path('summary.md'),
    PULL_REQUEST: '7',
    COMMIT: '4f2a9c81d0e7b3556677',
  }
  mkdirSync(env.OUT)
  const files = ['001-acme.md', '002-globex.md'].map((name) => join(env.OUT, name))
  const plan = () => runs(join(ACTION, 'plan.sh'), [], env, at.folder)
  const comment = () => runs(process.execPath, [join(ACTION, 'comment.mts'), ...files], ofJob, at.folder)

  at.write('policies/acme.yaml', policyText('workspace: acme\nteam: {cap: 500}'))
  at.write('policies/globex.yaml', policyText('workspace: globex\nteam: {cap: 700}', 'globex'))
  expect(await plan()).toMatchObject({ code: 0 })
  expect(await comment()).toMatchObject({ code: 0, stdout: 'comment created\n' })
  const [first] = github.comments()
  expect(first?.body).toMatch(
    /^<!-- capkeeper plan: default -->\n\n### capkeeper: acme\n[\s\S]*\n### capkeeper: globex\n[\s\S]*for 4f2a9c81d0e7/,
  )
  expect(JSON.parse(at.read('out/001-acme.json'))).toMatchObject({ kind: 'Plan', workspace: 'acme' })

  at.write('policies/globex.yaml', policyText('workspace: globex\nteam: {cap: many}', 'globex'))
  expect(await plan()).toMatchObject({ code: 65, stderr: expect.stringContaining('globex.yaml:6:15') })
  expect(await comment()).toMatchObject({ code: 0, stdout: 'comment updated\n' })
  expect(github.comments()).toHaveLength(1)
  expect(github.comments()[0]?.body).toMatch(/### capkeeper: the plan of globex failed\n\nExit code 65\.[\s\S]*\n {4}.*globex\.yaml:6:15/)
  expect(at.read('summary.md')).toContain('### capkeeper: acme')
  expect(github.comments()[0]?.body).not.toContain('sandbox-admin')
  expect(written(at.service)).toEqual([])
})

test('past cycles under the policies follow the plan where a ledger with recorded days is given, and their absence fails nothing', async () => {
  const at = await world()
  at.write('config.yaml', configText([workspace('acme', at.service.url)], { people: 'hash' }))
  at.write('policies/acme.yaml', policyText('workspace: acme\nteam: {cap: 100}'))
  const store = await openLedger({ file: at.path('recorded.db'), mode: 'write', clock: realClock() })
  const people = [{ email: 'ada@example.com', uses: () => 20 }]
  const now = new Date(realClock().now())
  const month = (ago: number): number => Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - ago, 1)
  const [fromAt, endAt] = [month(2), month(1)]
  const company = { people, fromAt, untilAt: endAt + 86_400_000, creditsPerSeat: 100 }
  await recordCompany(await store.workspace('acme', at.service.url), company)
  await store.close()
  const plan = (recorded: string) => {
    const env = {
      PATH: installed(at),
      OUT: at.path('out'),
      CAPKEEPER_CONFIG: at.path('config.yaml'),
      CAPKEEPER_LEDGER: ':memory:',
      WORKSPACES: '',
      RECORDED: recorded,
    }
    return runs(join(ACTION, 'plan.sh'), [], env, at.folder)
  }
  expect(await plan(at.path('recorded.db'))).toMatchObject({ code: 0 })
  const used = (20 * (endAt - fromAt)) / 86_400_000 - 100
  const verdict = `Over the last cycle this policy would have kept ${used - 100} of ${used} add-on credits`
  expect(at.read('out/plan.md')).toMatch(/^### capkeeper: acme\n[\s\S]*\n### acme: simulation\n\n/)
  expect(at.read('out/plan.md')).toContain(verdict)
  expect(at.read('out/plan.md')).not.toContain('ada@')
  expect(await plan(at.path('none.db'))).toMatchObject({ code: 0 })
  expect(at.read('out/plan.md')).toMatch(/Past cycles could not be simulated:\n\n {4}error: .*none\.db has no records/)
})
