// `init`: asks for missing values, reads the service, and writes all files or none. Everything is checked before the first file is made.
import { statSync } from 'node:fs'
import { isAbsolute, relative, resolve } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { createKeyRing } from '../../api/keys.ts'
import { parseBaseUrl } from '../../api/way.ts'
import { hasErrors, InputError, messageOf } from '../../core/model/problem.ts'
import { loadConfigAside, networkProblems } from '../../daemon/config/config.ts'
import type { WorkspaceConfig } from '../../daemon/config/settings.ts'
import type { TokenSource } from '../../files.ts'
import { DEFAULT_WORKSPACE } from '../../policy/bounds.ts'
import { adoptLive, GROUPS, type Live, type NamedGroup, NO_GROUPS, readGroup, readLive, tellImported } from '../import.ts'
import { action, COMMANDS, type FlagsOf } from '../shared/command.ts'
import { type Cli, CommandError, EXIT, UsageError } from '../shared/context.ts'
import { interruptible } from '../shared/each.ts'
import { count, tellLine } from '../shared/text.ts'
import { createFiles, endingText, existingIn, FIXED_FILES, filesOf, isNoFolder, policyFile, type Start, slugOf } from './render.ts'

type InitFlags = FlagsOf<typeof COMMANDS.init, typeof GROUPS>

export const register = action(COMMANDS.init, initCommand, GROUPS)

/** Starts a policy repository. Exits 4 when some people could not be read, and were left out. */
async function initCommand(dir: string, flags: InitFlags, cli: Cli): Promise<void> {
  // `init https://…` would make folders of that name.
  if (dir.includes('://'))
    throw new UsageError('DIR is the folder that the files go to; the address of the service is given with --base-url')
  const folder = resolve(dir)
  const isAsking = flags.nonInteractive !== true && cli.stdin.isTTY === true
  // All that is there is told at once; a name that is still to be asked for names a file that is judged after it.
  const name = flags.workspace ?? (isAsking ? undefined : DEFAULT_WORKSPACE)
  refuseExisting(dir, folder, [...FIXED_FILES, ...(name === undefined ? [] : [policyFile(name)])])
  const answered: InitFlags = isAsking ? { ...flags, ...(await askMissing(givenOf(flags, cli), cli)) } : flags
  await start(dir, folder, answered, cli)
}

async function start(dir: string, folder: string, flags: InitFlags, cli: Cli): Promise<void> {
  const config = await readWorkspace(flags, cli)
  refuseExisting(dir, folder, [policyFile(config.name)])
  const groups = flags.group ?? []
  if (groups.length === 0) cli.stderr.write(NO_GROUPS)
  const interrupted = (): string => 'interrupted; nothing was written'
  const live = await interruptible(cli, (signal) => readLive({ config, groups, interrupted, cli, signal }))
  refuseGaps(live, config)
  const started: Start = {
    workspace: config.name,
    baseUrl: config.baseUrl,
    allowPlainHttp: config.allowPlainHttp,
    key: keyFrom(config, folder),
    caFile: config.caFile === undefined ? undefined : pathFrom(config.caFile, folder),
    adopted: adoptLive(live, groups),
    live,
    now: cli.clock.now(),
  }
  const files = filesOf(started)
  for (const { path, text } of files) {
    if (cli.secrets.redact(text) !== text)
      throw new CommandError(`nothing was written: the service key would show in ${path}; rename what holds it`)
  }
  createFiles(folder, files)
  const { key, adopted } = started
  if ('file' in key && !isAbsolute(key.file)) tellLine(cli, `warning: the key file ${key.file} lies in ${folder}: keep it out of git`)
  tellImported(adopted, cli)
  cli.stdout.write(endingText(started, files, dir))
  cli.finish(adopted.leftOut.length > 0 ? EXIT.partial : EXIT.done)
}

/** Answers from flags and variables. `hasKey` also when the key itself is in the environment. */
const givenOf = ({ baseUrl, serviceKeyFile, workspace, group }: InitFlags, { env }: Cli) => ({
  baseUrl: baseUrl ?? (env['CAPKEEPER_BASE_URL'] || undefined),
  serviceKeyFile: serviceKeyFile ?? (env['CAPKEEPER_SERVICE_KEY_FILE'] || undefined),
  ...{ workspace, group, hasKey: Boolean(env['CAPKEEPER_SERVICE_KEY']) },
})

/** Flags and environment as one workspace. A config file, policies and ledger in the environment are ignored. */
async function readWorkspace(flags: InitFlags, { env, clock }: Cli): Promise<WorkspaceConfig> {
  const { CAPKEEPER_CONFIG: _config, CAPKEEPER_POLICIES: _policies, CAPKEEPER_LEDGER: _ledger, ...rest } = env
  const { config, problems } = await loadConfigAside({ env: rest, flags }, clock)
  const [workspace] = config?.workspaces ?? []
  if (!config || !workspace || hasErrors(problems)) throw new InputError(problems)
  const missing = [
    ...(workspace.baseUrl === '' ? ['--base-url URL'] : []),
    ...(Object.keys(workspace.keys).length === 0 ? ['--service-key-file FILE'] : []),
  ]
  if (missing.length > 0) {
    const why = flags.nonInteractive ? 'nothing is asked with --non-interactive' : 'there is no terminal to ask on'
    throw new UsageError(`${why}: give ${missing.join(' and ')}`)
  }
  const fault = nameFault(workspace.name)
  if (fault !== undefined) throw new UsageError(`--workspace: ${fault}`)
  const refused = networkProblems(config, { policies: false })
  if (refused.length > 0) throw new InputError(refused)
  return workspace
}

function refuseExisting(dir: string, folder: string, paths: readonly string[]): void {
  if (isNoFolder(folder)) throw new CommandError(`nothing was written: ${dir} is not a folder`)
  const existing = existingIn(folder, paths)
  if (existing.length === 0) return
  throw new CommandError(`nothing was written: ${dir} has ${existing.join(', ')} already; name another folder, or move what is there away`)
}

/** A person whom the service does not know is left out and named. With any other failure no policy is made. */
function refuseGaps({ unread }: Live, { name }: WorkspaceConfig): void {
  const grave = unread.filter(({ kind }) => kind !== 'not_found' && kind !== 'invalid')
  const [first] = grave
  if (first) throw new CommandError(`nothing was written: ${name}: ${count(grave.length, 'cap')} could not be read: ${first.message}`)
}

/** A path as the config names it: relative when it is within the config's folder. */
function pathFrom(path: string, folder: string): string {
  const below = relative(folder, resolve(path))
  return below.startsWith('..') || isAbsolute(below) ? resolve(path) : below
}

/** What came through a pipe, such as `<(vault …)`, cannot be named for the next command. */
function keyFrom({ keys }: WorkspaceConfig, folder: string): TokenSource {
  const key = keys.default
  if (!key || !('file' in key)) return key ?? KEY_VARIABLE
  return statSync(key.file).isFile() ? { file: pathFrom(key.file, folder) } : KEY_VARIABLE
}

const KEY_VARIABLE: TokenSource = { env: 'CAPKEEPER_SERVICE_KEY' }

// The questions of `init` on a terminal, for values that no flag and no variable gives. A wrong answer is asked again. An answer must never be
// shown again, because the user may paste the key where its file is asked for.

const MAX_TRIES = 5
const MAX_GROUPS = 1_000

type Line = (question: string) => Promise<string>

/** Asks for the missing answers. Throws a `CommandError` when the terminal is closed, or after too many wrong answers. */
async function askMissing(given: ReturnType<typeof givenOf>, cli: Cli) {
  using lines = createInterface({ input: cli.stdin, output: cli.stderr })
  const closed = Promise.withResolvers<never>()
  closed.promise.catch(() => undefined)
  lines.once('close', () => closed.reject(cancelled()))
  lines.once('SIGINT', () => lines.close())
  const line: Line = (question) => Promise.race([lines.question(question), closed.promise]).catch(() => Promise.reject(cancelled()))
  const baseUrl = await ask(line, cli, 'Address of the service, such as https://service.example: ', addressFault, given.baseUrl)
  const fault = (text: string): string | undefined => keyFault(text, cli)
  const keyFile =
    given.hasKey && given.serviceKeyFile === undefined
      ? undefined
      : await ask(line, cli, 'File that holds the service key (not the key itself): ', fault, given.serviceKeyFile)
  const isName = (name: string): string | undefined => nameFault(name || DEFAULT_WORKSPACE)
  const workspace = (await ask(line, cli, `Name of the workspace [${DEFAULT_WORKSPACE}]: `, isName, given.workspace)) || DEFAULT_WORKSPACE
  const group = given.group ?? (await askGroups(line, cli))
  return { baseUrl, workspace, group, serviceKeyFile: keyFile }
}

const cancelled = (): CommandError => new CommandError('cancelled; nothing was written')

/** The given value if it has no fault; otherwise the first answer without one, trimmed. */
async function ask(
  line: Line,
  { stderr }: Cli,
  question: string,
  faultOf: (answer: string) => string | undefined,
  given?: string,
): Promise<string> {
  for (let attempt = 0; attempt < MAX_TRIES; attempt += 1) {
    const answer = attempt === 0 && given !== undefined ? given : (await line(question)).trim()
    const fault = faultOf(answer)
    if (fault === undefined) return answer
    stderr.write(`  ${fault}\n`)
  }
  throw new CommandError(`no answer after ${MAX_TRIES} tries; nothing was written`)
}

function addressFault(text: string): string | undefined {
  const parsed = parseBaseUrl(text)
  return 'message' in parsed ? `${parsed.message}; write it like https://service.example` : undefined
}

function keyFault(file: string, { env }: Cli): string | undefined {
  if (file === '') return 'a path is needed'
  const [problem] = createKeyRing({ default: { file } }, { env }).problems()
  return problem?.severity === 'error' ? 'that is no file with a key in it; give the path of one, never the key itself' : undefined
}

/** A longer text was most likely pasted by mistake. */
const LONGEST_NAME = 60

/** Why a text is no name for a workspace. An address, an e-mail or a path was meant for another question. */
function nameFault(name: string): string | undefined {
  if (slugOf(name) === '') return 'a name has letters or digits in it, such as acme'
  if (/[/\\@]/.test(name)) return 'a name has no /, \\ or @ in it, such as acme'
  return name.length > LONGEST_NAME ? `a name has at most ${LONGEST_NAME} characters, such as acme` : undefined
}

/** The service lists no groups, so each one is named; an empty line ends them. */
async function askGroups(line: Line, cli: Cli): Promise<readonly NamedGroup[]> {
  cli.stderr.write('Groups, one a line as ID=NAME, such as grp_platform=Platform; an empty line goes on.\n')
  let groups: readonly NamedGroup[] = []
  for (let number = 1; number <= MAX_GROUPS; number += 1) {
    const text = await ask(line, cli, `Group ${number}: `, (answer) => (answer === '' ? undefined : groupFault(answer, groups)))
    if (text === '') return groups
    groups = readGroup(text, groups)
  }
  return groups
}

function groupFault(text: string, groups: readonly NamedGroup[]): string | undefined {
  try {
    readGroup(text, groups)
  } catch (error) {
    return messageOf(error)
  }
}
