// Turns a request for more credits into a pull request. Somebody on the list of approvers writes `/approve` on the issue; the request counts as it
// stood when it was opened, and any edit drops it. Every field is data. Nothing here merges, and nobody approves their own request.
//   node request.mts        reads the event of GitHub; see capkeeper-requests.yaml
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  ask,
  branchExists,
  dropBranch,
  isChanged,
  type Job,
  jobOf,
  openPullRequest,
  pathIn,
  pushBranch,
  quoted,
  say,
} from './pull-request.mts'

/** Bounds of this workflow's own, beside what the policies and the guards say. */
export interface Settings {
  /** Logins of those who may approve. */
  readonly approvers: readonly string[]
  readonly maxAdd: number
  readonly maxDays: number
  /** Where the policies are, and the document that gets the grants; as `capkeeper edit` takes them. */
  readonly policies: string
  readonly file?: string
}

/** What is asked for. */
export interface Request {
  readonly email: string
  /** The address is the one that the list has for the login; else it is only what the request says. */
  readonly isProven: boolean
  readonly add: number
  readonly until: string
  readonly reason: string
}

/** Why a request is not taken, in words for its author. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
}

const MOST_BODY = 20_000
const MOST_REASON = 300
const DAY_MS = 86_400_000
/** The labels of request.yml. */
const LABELS = ['Address', 'Credits more', 'Until', 'Reason'] as const
type Label = (typeof LABELS)[number]

/** The fields of an issue form. Throws a `Refusal` for a text that is no form, or has a field twice. */
export function fieldsOf(body: string): Readonly<Record<Label, string>> {
  if (body.length > MOST_BODY) throw new Refusal(`the request has ${body.length} characters, at most ${MOST_BODY} are read`)
  const parts = body.replaceAll('\r\n', '\n').split(/^### +(.+?) *$/m)
  const found = new Map<string, string>()
  for (let at = 1; at < parts.length; at += 2) {
    const [label = '', text = ''] = [parts[at], parts[at + 1]]
    if (found.has(label)) throw new Refusal(`the field ${quoted(label, 40)} stands twice`)
    found.set(label, text.trim() === '_No response_' ? '' : text.trim())
  }
  const field = (label: Label): string => {
    const text = found.get(label)
    if (text === undefined) throw new Refusal(`the field ${label} is missing: use the form`)
    return text
  }
  return { Address: field('Address'), 'Credits more': field('Credits more'), Until: field('Until'), Reason: field('Reason') }
}

/** The request within the bounds. Throws a `Refusal`. */
export function requestOf(
  body: string,
  author: string,
  given: { readonly settings: Settings; readonly logins: Readonly<Record<string, string>>; readonly now: number },
): Request {
  const { settings, logins, now } = given
  const fields = fieldsOf(body)
  const known = Object.hasOwn(logins, author) ? logins[author] : undefined
  const written = fields.Address.toLowerCase()
  if (known !== undefined && written !== '' && written !== known.toLowerCase())
    throw new Refusal('the address is not the one of the person who asks')
  const email = known ?? written
  if (!/^[a-z0-9][^\s@:|<>"'`,;\\/(){}[\]$&*?!#%]*@[a-z0-9.-]+$/i.test(email) || email.length > 254)
    throw new Refusal('the address is not one that can be taken')
  if (!/^[1-9][0-9]{0,8}$/.test(fields['Credits more'])) throw new Refusal('the credits are not a whole number')
  const add = Number(fields['Credits more'])
  if (add > settings.maxAdd) throw new Refusal(`${add} credits are asked for, at most ${settings.maxAdd} are granted this way`)
  const until = Date.parse(`${fields.Until}T00:00:00Z`)
  if (!/^\d{4}-\d{2}-\d{2}$/.test(fields.Until) || Number.isNaN(until) || !new Date(until).toISOString().startsWith(fields.Until))
    throw new Refusal('the day is not one like 2026-12-15')
  if (until < now - DAY_MS) throw new Refusal('the day is in the past')
  if (until > now + settings.maxDays * DAY_MS) throw new Refusal(`a grant lasts ${settings.maxDays} days at most this way`)
  const reason = fields.Reason.replace(/[\s\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]+/gu, ' ').trim()
  if (reason === '' || reason.length > MOST_REASON)
    throw new Refusal(`the reason has ${reason.length} characters, from 1 to ${MOST_REASON} are taken`)
  return { email, isProven: known !== undefined, add, until: fields.Until, reason }
}

interface Event {
  readonly action: string
  readonly issue: { readonly number: number }
  readonly comment?: { readonly body: string; readonly user: { readonly login: string } }
  readonly sender: { readonly login: string }
}

interface Issue {
  readonly body: string
  readonly author: { readonly login: string } | null
  readonly lastEditedAt: string | null
  readonly state: string
}

const QUERY = `query ($owner: String!, $name: String!, $number: Int!) {
  repository(owner: $owner, name: $name) { issue(number: $number) { body state lastEditedAt author { login } } }
}`

/** Text and edits in one answer, so that none can slip in between. */
async function issueNow(job: Job, number: number): Promise<Issue> {
  const [owner, name] = job.repository.split('/')
  const answer = (await ask(job, 'POST', job.graphqlUrl, { query: QUERY, variables: { owner, name, number } })) as {
    readonly data?: { readonly repository?: { readonly issue?: Issue } }
  }
  const issue = answer.data?.repository?.issue
  if (!issue) throw new Error(`issue ${number} cannot be read`)
  return issue
}

const read = <T,>(file: string): T => JSON.parse(readFileSync(file, 'utf8')) as T
const tell = (job: Job, number: number, body: string) => ask(job, 'POST', pathIn(job, `/issues/${number}/comments`), { body })
const branchOf = (number: number): string => `capkeeper-request-${number}`

const APPROVE = /^\s*\/approve\s*$/

/** Each value is one word of a list, and the address comes behind `--`: none can be taken for a flag. */
function grant({ policies, file }: Settings, { email, add, until, reason }: Request, number: number): void {
  const words = [`--add=${add}`, `--until=${until}`, `--reason=${reason}`, `--ticket=#${number}`, `--policies=${policies}`]
  try {
    const where = file === undefined ? [] : [`--file=${file}`]
    execFileSync('capkeeper', ['edit', 'grant', ...words, ...where, '--', email], { stdio: ['ignore', 'inherit', 'inherit'] })
  } catch {
    process.exitCode = 1
    throw new Refusal('`capkeeper edit` refuses it; the log of the job says why')
  }
}

async function approve(job: Job, event: Event, folder: string): Promise<void> {
  const settings = read<Settings>(join(folder, 'settings.json'))
  const { number } = event.issue
  const by = event.sender.login
  if (event.comment?.user.login !== by || !settings.approvers.includes(by))
    throw new Refusal(`${quoted(by, 60)} is not on the list of those who approve`)
  const issue = await issueNow(job, number)
  const author = issue.author?.login ?? ''
  if (author === by) throw new Refusal('nobody approves their own request')
  if (issue.state !== 'OPEN') throw new Refusal('the request is closed')
  if (issue.lastEditedAt !== null) throw new Refusal('the request was edited after it was opened: open a new one')
  if (branchExists(job, branchOf(number))) throw new Refusal('there is a pull request for it already')
  const request = requestOf(issue.body, author, { settings, logins: read(join(folder, 'logins.json')), now: Date.now() })
  const { email, add, until, reason, isProven } = request
  grant(settings, request, number)
  if (!isChanged(job)) throw new Refusal('the policies have this grant already')
  pushBranch(job, branchOf(number), `grants: ${add} credits until ${until}, as asked in #${number}`)
  const rows = [
    ['person', quoted(email)],
    ['address', isProven ? 'of the login that asked' : '**address unproven**: it is only what the request says'],
    ['credits more', String(add)],
    ['until', until],
    ['reason', quoted(reason)],
    ['asked by', quoted(author, 60)],
    ['approved by', quoted(by, 60)],
  ]
  const body = [
    `Closes #${number}.`,
    '',
    '| | |',
    '|---|---|',
    ...rows.map(([name, value]) => `| ${name} | ${value?.replaceAll('|', '\\|')} |`),
    '',
    'A person merges this, or nobody does.',
  ].join('\n')
  await openPullRequest(job, branchOf(number), { title: `Request #${number}: ${add} credits more until ${until}`, body })
  say(`request ${number}: a pull request is open`)
}

/** Any edit drops the approval: the pull request is closed, and its branch goes. */
async function edited(job: Job, { issue: { number } }: Event): Promise<void> {
  const dropped = await dropBranch(job, branchOf(number))
  await tell(
    job,
    number,
    `This request was edited${dropped ? ': its pull request is closed' : ''}. A request counts as it was opened; open a new one.`,
  )
  say(`request ${number}: edited, dropped`)
}

async function main(): Promise<void> {
  const job = jobOf(process.env)
  const event = read<Event>(process.env['GITHUB_EVENT_PATH'] ?? '')
  try {
    if (event.action === 'edited' && !event.comment) await edited(job, event)
    else if (event.action === 'created' && event.comment && APPROVE.test(event.comment.body.slice(0, 100)))
      await approve(job, event, import.meta.dirname)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    say(`request ${event.issue.number}: ${error.message}`)
    await tell(job, event.issue.number, `Not taken: ${error.message}.`)
  }
}

if (import.meta.main) await main()
