// `doctor`'s checks on this machine: key and CA files, and the ledger's file. It changes nothing.

import { accessSync, constants, realpathSync, type Stats, statfsSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { authoritiesIn } from '../../api/way.ts'
import type { Config, WorkspaceConfig } from '../../daemon/config/settings.ts'
import { checkPeopleFile } from '../../daemon/directory/read.ts'
import { LedgerError } from '../../daemon/ledger/error.ts'
import { isPostgresAddress } from '../../daemon/ledger/postgres/address.ts'
import { isLocked } from '../../daemon/ledger/sqlite/database.ts'
import type { LedgerReport, LedgerStore, ServerReport } from '../../daemon/ledger/store.ts'
import { codeIn } from '../../files.ts'
import type { Cli } from '../shared/context.ts'
import { shownLedger } from '../shared/ledger/address.ts'
import { withStore } from '../shared/ledger/store.ts'
import { isLedgerUrl } from '../shared/remote.ts'
import { count } from '../shared/text.ts'
import { failed, notChecked, ok, type Tell, warning } from './check.ts'

/** Key files, the CA file and the people file of one workspace. */
export async function checkFiles({ keys, caFile, directory }: WorkspaceConfig, { clock }: Cli, tell: Tell): Promise<void> {
  const files = Map.groupBy(Object.entries(keys), ([, source]) => ('file' in source ? source.file : ''))
  files.delete('')
  for (const [file, entries] of files) tell(`key ${entries.map(([name]) => name).join(', ')}`, keyFile(file))
  if (caFile !== undefined) {
    const { unread } = authoritiesIn(caFile)()
    tell('caFile', unread === undefined ? ok(`${caFile} holds certificates`) : failed(unread, 'correct caFile or --ca-file'))
  }
  if (!directory) return
  const found = await checkPeopleFile(directory, clock)
  const { file } = directory
  if ('people' in found) tell('directory', ok(`${file} lists ${count(found.people, 'person', 'people')}`))
  else tell('directory', { ...failed(`${file} cannot be used`), problems: [found.problem] })
}

function keyFile(file: string) {
  const stats = statsOf(file)
  if (typeof stats === 'string')
    return failed(`${file} cannot be read (${stats})`, 'mount or write it, and let the user of capkeeper read it')
  if (stats.isFile() && (stats.mode & 0o004) !== 0)
    return warning(`${file} can be read by everybody on this machine (${modeText(stats)})`, `chmod o-r ${file}`)
  return ok(`${file} can be read (${modeText(stats)})`)
}

const modeText = ({ mode }: Stats): string => `mode ${(mode & 0o777).toString(8).padStart(4, '0')}`

/** The file's facts, or the system's code when it cannot be read. */
function statsOf(file: string): Stats | string {
  try {
    accessSync(file, constants.R_OK)
    return statSync(file)
  } catch (error) {
    return codeIn(error) ?? String(error)
  }
}

const MIB = 1024 * 1024
const LITTLE_SPACE = 200 * MIB
const NO_SPACE = 20 * MIB

/** Checks the ledger's file itself; check.ts checks its contents. Undefined when it cannot be read. */
export async function checkLedgerFile(config: Config, cli: Cli, tell: Tell): Promise<LedgerReport | undefined> {
  const file = config.ledger
  if (isLedgerUrl(file)) {
    tell('file', notChecked(`the ledger is read from ${shownLedger(file)}`, 'run doctor where the daemon runs to look at the file'))
    return undefined
  }
  if (isPostgresAddress(file)) return checkDatabase(config, cli, tell)
  if (file === ':memory:') {
    tell('file', warning('the ledger is kept in memory', 'what is ours is forgotten with the process; give --ledger FILE'))
    return undefined
  }
  if (!checkFolder(dirname(realPath(file)), tell)) return undefined
  const report = await integrity(config, cli, tell)
  if (!report?.exists) return report
  checkModes(realPath(file), tell)
  const locked = isLocked(file)
  if (locked === undefined) tell('lock', notChecked(`whether a process writes to ${file} cannot be told`))
  else tell('lock', ok(locked ? 'a running capkeeper holds the write lock' : 'no capkeeper writes to it now'))
  return report
}

function realPath(file: string): string {
  try {
    return realpathSync(file)
  } catch {
    return resolve(file)
  }
}

/** False when there is no such folder. */
function checkFolder(folder: string, tell: Tell): boolean {
  try {
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK)
    tell('folder', ok(`${folder} can be written`))
  } catch (error) {
    const code = codeIn(error) ?? String(error)
    if (code === 'ENOENT') tell('folder', failed(`there is no folder ${folder} for the ledger`, 'make it, or change --ledger'))
    else tell('folder', failed(`${folder} cannot be written (${code})`, 'let the user of capkeeper write there, or change --ledger'))
    if (code === 'ENOENT') return false
  }
  const { bavail, bsize } = statfsSync(folder)
  const free = bavail * bsize
  const text = `${Math.floor(free / MIB).toLocaleString('en-US')} MiB free in ${folder}`
  const way = 'make room; a full disk stops all writing'
  tell('disk', free < NO_SPACE ? failed(text, way) : free < LITTLE_SPACE ? warning(text, way) : ok(text))
  return true
}

async function integrity(config: Config, cli: Cli, tell: Tell): Promise<LedgerReport | undefined> {
  try {
    const report = await withStore(cli, config.ledger, 'read', (store) => store.check())
    tellIntegrity(report, [`${report.file} is whole`, `${report.file} is not whole: `], tell)
    return report
  } catch (error) {
    if (!(error instanceof LedgerError)) throw error
    // The messages of all other errors name the way out themselves.
    tell('integrity', failed(error.message, error.code === 'LEDGER_CORRUPT' ? 'put a backup in its place' : undefined))
    return undefined
  }
}

function tellIntegrity(
  { exists, file, problems, schemaVersion }: LedgerReport,
  [whole, broken]: readonly [string, string],
  tell: Tell,
): void {
  const [first] = problems
  if (!exists) tell('integrity', ok(`there is no ledger at ${file} yet; the first run makes it`))
  else if (first === undefined) tell('integrity', ok(`${whole}, schema version ${schemaVersion}`))
  else tell('integrity', failed(`${broken}${first} (${count(problems.length, 'problem')})`, 'run `capkeeper ledger check`'))
}

function checkModes(file: string, tell: Tell): void {
  const stats = statsOf(file)
  if (typeof stats === 'string') return
  const size = `${(stats.size / MIB).toFixed(1)} MiB`
  if ((stats.mode & 0o077) !== 0)
    tell('mode', warning(`${file} is open to others (${modeText(stats)}), ${size}`, `it holds e-mails and caps: chmod 600 ${file}`))
  else tell('mode', ok(`${file} is its owner's alone (${modeText(stats)}), ${size}`))
}

// `doctor`'s checks of a ledger in PostgreSQL: whether it can be reached, its version, the rights of this user, its latency and its clock. It only
// reads.

/** Version 13 in the server's own numbers, the oldest that was tested. */
const LEAST_VERSION = 130_000
/** Every write waits for about three answers of the database: the pause, the intent and the outcome. Choices. */
const FAR_MS = 50
const SKEW_MS = 2_000

/** Undefined when nothing can be read from it. */
async function checkDatabase(config: Config, cli: Cli, tell: Tell): Promise<LedgerReport | undefined> {
  try {
    return await withStore(cli, config.ledger, 'read', (store) => examine(store, tell))
  } catch (error) {
    if (!(error instanceof LedgerError)) throw error
    tell('database', failed(error.message))
    return undefined
  }
}

async function examine(store: LedgerStore, tell: Tell): Promise<LedgerReport> {
  const server = await store.server?.()
  if (server) checkServer(shownLedger(store.file), server, tell)
  const report = await store.check()
  tellIntegrity(report, ['every row can be read', ''], tell)
  return report
}

function checkServer(name: string, server: ServerReport, tell: Tell): void {
  const { version, versionNumber, missingRights, latencyMs, clockSkewMs, isStandby, isEncrypted } = server
  const told = `${name}: PostgreSQL ${version}`
  if (isStandby) tell('database', failed(`${told}, a standby that takes no writes`, 'let the address lead to the primary'))
  else if (versionNumber < LEAST_VERSION) tell('database', warning(told, 'capkeeper was tried with 13 and later'))
  else tell('database', ok(told))
  tell('encryption', ok(`the connection is ${isEncrypted ? 'encrypted' : 'not encrypted; sslmode=verify-full asks for it'}`))
  const lacks = `this user may not: ${missingRights.slice(0, 4).join(', ')}${missingRights.length > 4 ? ', …' : ''}`
  const lacking = failed(lacks, 'grant it, or use the owner of the schema')
  tell('rights', missingRights.length === 0 ? ok('this user may read and write the ledger') : lacking)
  const latency = `an answer takes ${latencyMs.toFixed(1)} ms`
  const far = warning(latency, 'each write waits for about three of them; run capkeeper nearer to its database')
  tell('latency', latencyMs > FAR_MS ? far : ok(latency))
  const skew = `the clock of the database differs by ${(Math.abs(clockSkewMs) / 1_000).toFixed(1)} s`
  tell('clock', Math.abs(clockSkewMs) > SKEW_MS ? warning(skew, 'let both machines follow a time server') : ok(skew))
}
