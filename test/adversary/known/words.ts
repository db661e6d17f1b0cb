// Known cases: messages and exit codes for errors (docs/policies.md, 3, 4 and 9).
import { execFileSync } from 'node:child_process'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { plainCompany } from '../company.ts'
import { at, listAt, textAt } from '../json.ts'
import { outcome } from '../kinds/kind.ts'
import { noPolicy } from '../policy.ts'
import { start } from '../program.ts'
import { noGuards } from '../world.ts'
import { apply, type Known, must, mustExit, plan, told } from './known.ts'

const company = plainCompany(4, { team: 1000 }, { groups: [{ id: 'grp_a', name: 'A', members: ['p1@adv.example'] }] })

const allErrors: Known = {
  name: 'a bad cap and a duplicate on the same line are both reported at once',
  run: async (open) => {
    const world = await open(company)
    world.configure({})
    world.write(
      'apiVersion: capkeeper/v1\nkind: CapPolicy\nmetadata: {name: acme}\nspec:\n  users:\n    - {email: a@example.com, cap: 5}\n    - {email: " A@Example.com", cap: 5x}\n',
    )
    const run = await world.run('validate')
    mustExit(world, run, 65)
    const said = `${run.out}${run.talk}`
    must(world, 'all errors are reported at once (section 2): the bad cap', /p\.yaml:7:\d+/.test(said) && said.includes('5x'), () => said)
    must(world, 'The same scope declared twice: an error naming both places (section 2)', /p\.yaml:6:\d+/.test(said), () => said)
  },
}

const wrongKey: Known = {
  name: 'a plan with a wrong key says first that nothing could be read, and fails',
  run: async (open) => {
    const world = await open(company)
    world.configure({})
    world.write({ ...noPolicy, team: 1000 })
    const running = start(world.folder, ['plan', '--config', 'capkeeper.yaml'], { CAPKEEPER_TRIAL_KEY: 'no-such-key' })
    const run = await running.ended
    mustExit(world, run, 1)
    must(world, 'a plan of which nothing could be read never says "No changes" (issue 11)', !/no changes/i.test(run.out), () => run.out)
    must(world, 'the key never appears in any output (section 7)', !`${run.out}${run.talk}`.includes('no-such-key'), () => run.talk)
  },
}

const noBalance: Known = {
  name: 'a balance that is refused with 403 and an empty body never stops caps from being kept',
  run: async (open) => {
    const world = await open(company)
    world.configure({})
    world.write({ ...noPolicy, team: 1500 })
    world.service.tamper = ({ operation }) =>
      operation === 'GetTeamCreditBalance' ? { kind: 'answer', status: 403, body: '' } : { kind: 'pass' }
    const run = await apply(world)
    mustExit(world, run, 0)
    must(world, 'the balance never stops caps from being kept', world.service.state().get('team') === 1500, () => outcome(run))
  },
}

const nobodyThere: Known = {
  name: 'a plan without a service at the address fails, also when no scope is declared',
  run: async (open) => {
    const world = await open(company)
    world.configure({})
    for (const spec of ['{}', '{grants: [{team: true, cap: 5, from: 2999-01-01, until: 2999-02-01, reason: later}]}']) {
      world.write(`apiVersion: capkeeper/v1\nkind: CapPolicy\nmetadata: {name: acme}\nspec: ${spec}\n`)
      const run = await world.run('plan', '--base-url', 'http://127.0.0.1:9')
      mustExit(world, run, 1)
      must(world, 'nothing could be read: never "No changes"', !/no changes/i.test(run.out), () => run.out)
    }
  },
}

const unknownNotRejected: Known = {
  name: 'a grant with add on a group that was never read is unknown, not rejected',
  run: async (open) => {
    const world = await open(company)
    world.configure({ guards: noGuards })
    world.write(
      'apiVersion: capkeeper/v1\nkind: CapPolicy\nmetadata: {name: acme}\nspec:\n  team: {cap: 1000}\n  groups: [{id: grp_a, name: A}]\n  grants: [{group: grp_a, add: 5, until: 2999-01-01, reason: more}]\n',
    )
    world.service.tamper = ({ operation, scope }) =>
      operation === 'GetUsageConfig' && scope === 'group:grp_a'
        ? { kind: 'answer', status: 500, body: '{"error":"broken"}' }
        : { kind: 'pass' }
    const run = await plan(world)
    must(
      world,
      'unknown never causes a write, and is told as unknown (section 1)',
      Number(at(run.json, 'counts', 'rejected')) === 0 && listAt(run.json, 'unknown').length > 0,
      () => `${JSON.stringify(at(run.json, 'counts'))} ${JSON.stringify(at(run.json, 'problems'))}`,
    )
  },
}

const evenGuards: Known = {
  name: 'every share guard takes the same forms of a percentage',
  run: async (open) => {
    const world = await open(company)
    world.write({ ...noPolicy, team: 1000 })
    const names = ['maxAffected', 'maxLowered', 'maxBlocked', 'maxCleared', 'maxRaise', 'rosterShrink', 'readQuality']
    for (const form of ['30', '30%', '{percent: 30}']) {
      world.configure({ guards: Object.fromEntries(names.map((name) => [name, form])) })
      const run = await world.run('validate')
      const refused = names.filter((name) => `${run.out}${run.talk}`.includes(`guards.${name}`))
      must(
        world,
        'Percentages are settings of every guard alike (section 5)',
        run.code === 0 || refused.length === names.length,
        () => `${form}: refused for ${refused.join(', ')} alone: ${outcome(run)}`,
      )
    }
  },
}

const sandboxAndUrl: Known = {
  name: 'run --sandbox with --base-url is a wrong use',
  run: async (open) => {
    const world = await open(company)
    world.write({ ...noPolicy, team: 1000 })
    const run = await world.command(
      'run',
      '--sandbox',
      '--once',
      '--base-url',
      world.service.url,
      '--policies',
      'policies',
      '--sandbox-port',
      '0',
      '--listen',
      '127.0.0.1:0',
    )
    mustExit(world, run, 64)
  },
}

const portTaken: Known = {
  name: 'a port in use ends run and sandbox with 1',
  run: async (open) => {
    const world = await open(company)
    world.configure({})
    world.write({ ...noPolicy, team: 1000 })
    const taken = createServer()
    await new Promise<void>((done) => taken.listen(0, '127.0.0.1', done))
    const address = taken.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    try {
      mustExit(world, await world.run('run', '--listen', `127.0.0.1:${port}`), 1)
      mustExit(world, await world.command('sandbox', '--port', String(port), '--people', '5', '--days', '1'), 1)
    } finally {
      taken.close()
    }
  },
}

const dirty: Known = {
  name: 'uncommitted edits of a policy are marked in the revision',
  run: async (open) => {
    const world = await open(company)
    world.configure({})
    world.write({ ...noPolicy, team: 1000 })
    const git = (...words: readonly string[]): string =>
      execFileSync('git', ['-c', 'user.name=trial', '-c', 'user.email=trial@adv.example', '-c', 'commit.gpgsign=false', ...words], {
        cwd: join(world.folder, 'policies'),
        encoding: 'utf8',
      })
    git('init', '--quiet')
    git('add', '.')
    git('-c', 'core.hooksPath=/dev/null', 'commit', '--quiet', '-m', 'first')
    const clean = textAt((await plan(world)).json, 'revision')
    must(world, 'the revision is the commit', clean !== '' && !clean.includes('dirty'), () => clean)
    world.write({ ...noPolicy, team: 1001 })
    const edited = textAt((await plan(world)).json, 'revision')
    must(world, 'uncommitted edits append +dirty to the revision (issue 11)', edited === `${clean}+dirty`, () => edited)
  },
}

const oneName: Known = {
  name: 'explain and history name the policy digest alike',
  run: async (open) => {
    const world = await open(company)
    world.configure({})
    world.write({ ...noPolicy, team: 1500 })
    mustExit(world, await apply(world), 0)
    const explained = await world.run('explain', 'team', '--output', 'json')
    const history = await world.run('history', '--output', 'json')
    const digest = textAt(history.json, 'entries', 0, 'policyDigest')
    must(
      world,
      'policyDigest in history and in explain (issue 11)',
      digest !== '' && textAt(explained.json, 'lastWrite', 'policyDigest') === digest,
      () => JSON.stringify(at(explained.json, 'lastWrite')),
    )
  },
}

const noTerminal: Known = {
  name: 'apply without a terminal and without --yes is a wrong use and writes nothing',
  run: async (open) => {
    const world = await open(company)
    world.configure({})
    world.write({ ...noPolicy, team: 1500 })
    const run = await world.run('apply')
    mustExit(world, run, 64)
    must(world, 'nothing is written', world.service.state().get('team') === 1000, () => told(run))
  },
}

export const wordCases: readonly Known[] = [
  allErrors,
  wrongKey,
  noBalance,
  nobodyThere,
  unknownNotRejected,
  evenGuards,
  sandboxAndUrl,
  portTaken,
  dirty,
  oneName,
  noTerminal,
]
