// The questions of `init` on a terminal, for values that no flag and no variable gives. A wrong answer is asked again. An answer must never be
// shown again, because the user may paste the key where its file is asked for.
import { createInterface } from 'node:readline/promises'
import { createKeyRing } from '../../api/keys.ts'
import { parseBaseUrl } from '../../api/url.ts'
import type { NamedGroup } from '../import/command.ts'
import { readGroup } from '../import/command.ts'
import { type Cli, CommandError } from '../shared/context.ts'
import { messageOf } from '../shared/text.ts'
import { slugOf } from './render.ts'

/** What `init` needs to know before it can read. */
export interface Answers {
  readonly baseUrl?: string
  readonly serviceKeyFile?: string
  readonly workspace?: string
  readonly group?: readonly NamedGroup[]
}

/** Answers from flags and variables. `hasKey` also when the key itself is in the environment. */
export interface Given extends Answers {
  readonly hasKey: boolean
}

const MAX_TRIES = 5
const MAX_GROUPS = 1_000

type Line = (question: string) => Promise<string>

/** Asks for the missing answers. Throws a `CommandError` when the terminal is closed, or after too many wrong answers. */
export async function askMissing(given: Given, cli: Cli): Promise<Answers> {
  const lines = createInterface({ input: cli.stdin, output: cli.stderr })
  const closed = Promise.withResolvers<never>()
  closed.promise.catch(() => undefined)
  lines.once('close', () => closed.reject(cancelled()))
  lines.once('SIGINT', () => lines.close())
  const line: Line = (question) => Promise.race([lines.question(question), closed.promise]).catch(() => Promise.reject(cancelled()))
  try {
    const baseUrl = await ask(line, cli, 'Address of the service, such as https://service.example: ', addressFault, given.baseUrl)
    const fault = (text: string): string | undefined => keyFault(text, cli)
    const keyFile =
      given.hasKey && given.serviceKeyFile === undefined
        ? undefined
        : await ask(line, cli, 'File that holds the service key (not the key itself): ', fault, given.serviceKeyFile)
    const isName = (name: string): string | undefined => nameFault(name || 'default')
    const workspace = (await ask(line, cli, 'Name of the workspace [default]: ', isName, given.workspace)) || 'default'
    const group = given.group ?? (await askGroups(line, cli))
    return { baseUrl, workspace, group, ...(keyFile === undefined ? {} : { serviceKeyFile: keyFile }) }
  } finally {
    lines.close()
  }
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

function keyFault(file: string, { env, clock }: Cli): string | undefined {
  if (file === '') return 'a path is needed'
  const [problem] = createKeyRing({ default: { file } }, { env, clock }).problems()
  return problem?.severity === 'error' ? 'that is no file with a key in it; give the path of one, never the key itself' : undefined
}

/** A longer text was most likely pasted by mistake. */
const LONGEST_NAME = 60

/** Why a text is no name for a workspace. An address, an e-mail or a path was meant for another question. */
export function nameFault(name: string): string | undefined {
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
    return undefined
  } catch (error) {
    return messageOf(error)
  }
}
