// The scheduled backup: the script of the CronJob run on a real ledger, and the copy put back as the guide says.
import { execFileSync, spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { ofKind } from '../support/kubernetes.ts'
import { MAIN } from '../support/process.ts'
import { readDeploy } from '../support/rules.ts'
import { temporaryFolder } from '../support/temporary.ts'
import { hasHelm, helmed } from './renderings.ts'

const capkeeper = (...argv: readonly string[]): string =>
  execFileSync(process.execPath, [MAIN, ...argv], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })

/** A ledger that holds something to be found again. */
function ledgerIn(at: string): string {
  const ledger = join(at, 'capkeeper.db')
  capkeeper('pause', '--for', '1h', '--reason', 'before the backup', ...flagsOf(at, ledger))
  return ledger
}

function flagsOf(at: string, ledger: string): readonly string[] {
  const config = join(at, 'config.yaml')
  if (!existsSync(config)) {
    mkdirSync(join(at, 'policies'))
    writeFileSync(join(at, 'key'), 'sandbox-admin\n')
    writeFileSync(
      config,
      'apiVersion: capkeeper/v1\nkind: Config\nworkspaces: [{name: acme, baseUrl: "http://127.0.0.1:9", keys: {default: {file: key}}, policies: [policies]}]\n',
    )
  }
  return ['--config', config, '--ledger', ledger]
}

function backUp(ledger: string, copies: string, keep = '14') {
  const script = readDeploy('helm/capkeeper/files/backup.mjs')
  const env = { FOLDER: copies, KEEP: keep, LEDGER: ledger, MAIN }
  return spawnSync(process.execPath, ['--input-type=module', '--eval', script], { env, encoding: 'utf8' })
}

describe('the backup', () => {
  test('is a copy that is checked, and holds what the ledger held when it is put back', () => {
    const [at, copies] = [temporaryFolder(), temporaryFolder()]
    const ledger = ledgerIn(at)
    expect(backUp(ledger, copies)).toMatchObject({ status: 0, stdout: expect.stringContaining('kept ') })
    const [copy = '', ...more] = readdirSync(copies)
    expect([copy, more]).toEqual([expect.stringMatching(/^capkeeper-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.db$/), []])
    const lost = temporaryFolder()
    const restored = join(lost, 'capkeeper.db')
    copyFileSync(join(copies, copy), restored)
    expect(capkeeper('ledger', 'check', '--ledger', restored)).not.toBe('')
    expect(capkeeper('resume', ...flagsOf(lost, restored))).toContain('it was paused for: before the backup')
  })

  test('keeps as many copies as it is told, the newest, and touches nothing else', () => {
    const [at, copies] = [temporaryFolder(), temporaryFolder()]
    for (const day of ['01', '02', '03']) writeFileSync(join(copies, `capkeeper-2020-01-${day}T03-17-00.db`), 'old')
    writeFileSync(join(copies, 'before-upgrade.db'), 'mine')
    expect(backUp(ledgerIn(at), copies, '2').status).toBe(0)
    expect(readdirSync(copies).toSorted()).toEqual([
      'before-upgrade.db',
      'capkeeper-2020-01-03T03-17-00.db',
      expect.stringMatching(/^capkeeper-2\d{3}-/),
    ])
  })

  test('of a ledger that is broken fails, leaves no copy, and keeps the old ones', () => {
    const [at, copies] = [temporaryFolder(), temporaryFolder()]
    const ledger = join(at, 'capkeeper.db')
    writeFileSync(ledger, 'this is no database, and long enough to be looked at as one '.repeat(100))
    writeFileSync(join(copies, 'capkeeper-2020-01-01T03-17-00.db'), 'old')
    expect(backUp(ledger, copies, '1').status).toBe(1)
    expect(readdirSync(copies)).toEqual(['capkeeper-2020-01-01T03-17-00.db'])
    expect(readFileSync(ledger, 'utf8')).toContain('no database')
  })
})

test.skipIf(!hasHelm)('the CronJob carries the script as a whole (needs helm)', () => {
  const [job] = ofKind(helmed('--set', 'backup.enabled=true,backup.s3.bucket=b'), 'CronJob')
  expect(Object(job?.spec).jobTemplate.spec.template.spec.initContainers[0].args).toEqual([readDeploy('helm/capkeeper/files/backup.mjs')])
})
