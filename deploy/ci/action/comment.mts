// Keeps one comment with the plan on a pull request: made once, found again by a mark that readers do not see, and changed from then on.
// What does not fit into a comment goes into the summary of the job, and the comment says so. Releases and weakened guards stand first. It talks to
// the GitHub API and to nothing else; without a pull request (a merge queue) it writes the summary alone.
//   node comment.mts FILE...     each FILE is the Markdown of one plan
import { appendFileSync, readFileSync } from 'node:fs'

/** GitHub takes 65,536 characters in a comment. */
export const COMMENT_LIMIT = 65_000
/** GitHub takes 1 MiB in a summary; a character may be up to 4 bytes, but hardly any is. */
const SUMMARY_LIMIT = 500_000
const COMMENTS_PER_PAGE = 100
/** A pull request with more comments than pages hold gets a new one. */
const PAGES = 50
const TIMEOUT_MS = 30_000

/** Where the comment belongs, and the token that may write there (`pull-requests: write`). */
export interface Place {
  readonly apiUrl: string
  /** `owner/name`. */
  readonly repository: string
  readonly pullRequest: number
  readonly token: string
}

export interface Frame {
  /** Tells comments of several workflows apart. */
  readonly label: string
  /** The commit that was planned. */
  readonly commit: string
  /** The page of the job, where the summary is. */
  readonly runUrl: string
}

/** Stands first in the comment, unseen. */
export const markOf = (label: string): string => `<!-- capkeeper plan: ${label.replaceAll(/[^\w./ -]/g, '_')} -->`

/** How a plan begins a line about what is let through: a release of a hold, a guard made weaker, somebody who is no longer protected. */
const LETS_THROUGH = /^\W*(?:releases? |policy weakens |no longer protected)/i
/** Lines of this kind that are shown; more are counted. */
const FIRST_LINES = 20

/** What a reviewer must see before anything else, of all plans, each line with its workspace; empty when there is nothing of the kind. */
export function firstOfAll(plans: readonly string[]): string {
  const lines = plans.flatMap((plan) => {
    const [, workspace = ''] = /^### capkeeper: (.*)$/m.exec(plan) ?? []
    const found = plan.split('\n').filter((line) => LETS_THROUGH.test(line))
    return found.map((line) => `- ${workspace === '' ? '' : `${workspace}: `}${line.replace(/^[\s>*-]+/, '').slice(0, 500)}`)
  })
  if (lines.length === 0) return ''
  const more = lines.length > FIRST_LINES ? [`- and ${lines.length - FIRST_LINES} more`] : []
  return [
    '> [!CAUTION]',
    '> **This lets through what a guard would hold:**',
    '>',
    ...[...lines.slice(0, FIRST_LINES), ...more].map((line) => `> ${line}`),
  ].join('\n')
}

/** Plans that let something through come first; the others keep their order. */
const gravestFirst = (plans: readonly string[]): readonly string[] =>
  plans.toSorted((a, b) => Number(firstOfAll([b]) !== '') - Number(firstOfAll([a]) !== ''))

/** The comment: as many whole plans as fit, in their order, and a line for those that do not. */
export function commentBody(unordered: readonly string[], { label, commit, runUrl }: Frame): string {
  const plans = gravestFirst(unordered)
  const first = firstOfAll(plans)
  const closing = `<sub>for ${commit.slice(0, 12)}, by [this job](${runUrl})</sub>\n`
  const room = COMMENT_LIMIT - markOf(label).length - closing.length - first.length - 200
  const { taken, left } = fitting(plans, room)
  const more = left === 0 ? [] : [`**${left} more ${left === 1 ? 'plan stands' : 'plans stand'} in the [summary of the job](${runUrl}).**`]
  return [markOf(label), ...(first === '' ? [] : [first]), ...taken, ...more, closing].join('\n\n')
}

/** All plans, for the summary of the job, which takes more than a comment. */
export function summaryBody(plans: readonly string[]): string {
  const first = firstOfAll(plans)
  const { taken, left } = fitting(gravestFirst(plans), SUMMARY_LIMIT - first.length)
  return [
    ...(first === '' ? [] : [first]),
    ...taken,
    ...(left === 0 ? [] : [`${left} more did not fit; they are in the artifact of this run.`]),
  ].join('\n\n')
}

function fitting(texts: readonly string[], room: number): { readonly taken: readonly string[]; readonly left: number } {
  let used = 0
  const end = texts.findIndex((text) => {
    used += text.length + 2
    return used > room
  })
  const taken = end < 0 ? texts : texts.slice(0, end)
  return { taken, left: texts.length - taken.length }
}

/** Changes the comment that is there, or makes it. Throws with the status when GitHub refuses. */
export async function upsertComment(place: Place, label: string, body: string): Promise<'created' | 'updated' | 'unchanged'> {
  const found = await findComment(place, markOf(label))
  const comments = `/repos/${place.repository}/issues`
  if (found?.body === body) return 'unchanged'
  if (found) await call(place, 'PATCH', `${comments}/comments/${found.id}`, { body })
  else await call(place, 'POST', `${comments}/${place.pullRequest}/comments`, { body })
  return found ? 'updated' : 'created'
}

interface Comment {
  readonly id: number
  readonly body: string
}

/** Only a comment of a bot: anybody may write the mark, and nobody's own words are overwritten. */
async function findComment(place: Place, mark: string): Promise<Comment | undefined> {
  for (let page = 1; page <= PAGES; page += 1) {
    const path = `/repos/${place.repository}/issues/${place.pullRequest}/comments?per_page=${COMMENTS_PER_PAGE}&page=${page}`
    const answer = await call(place, 'GET', path)
    const comments = Array.isArray(answer) ? answer : []
    const found = comments.flatMap(ofBot).find((one) => one.body.startsWith(mark))
    if (found || comments.length < COMMENTS_PER_PAGE) return found
  }
  return undefined
}

function ofBot(value: unknown): readonly Comment[] {
  const { id, body, user } = Object(value)
  return user?.type === 'Bot' && typeof id === 'number' && typeof body === 'string' ? [{ id, body }] : []
}

async function call({ apiUrl, token }: Place, method: 'GET' | 'POST' | 'PATCH', path: string, body?: unknown): Promise<unknown> {
  const answer = await fetch(`${apiUrl}${path}`, {
    method,
    headers: { accept: 'application/vnd.github+json', authorization: `Bearer ${token}`, 'x-github-api-version': '2022-11-28' },
    signal: AbortSignal.timeout(TIMEOUT_MS),
    redirect: 'error',
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  if (answer.ok) return answer.json()
  const hint = answer.status === 403 || answer.status === 404 ? '; the job needs `permissions: {pull-requests: write}`' : ''
  throw new Error(`GitHub answered ${answer.status} to ${method} ${path}${hint}`)
}

function needed(name: string): string {
  const value = process.env[name]
  if (!value) throw new Error(`${name} is not set; this script runs in a GitHub workflow on a pull request`)
  return value
}

async function main(files: readonly string[]): Promise<void> {
  const plans = files.map((file) => readFileSync(file, 'utf8').trim())
  const summary = process.env['GITHUB_STEP_SUMMARY']
  if (summary) appendFileSync(summary, `${summaryBody(plans)}\n`)
  if (!process.env['PULL_REQUEST']) {
    process.stdout.write('no pull request: the plan is in the summary of the job\n')
    return
  }
  const pullRequest = Number(needed('PULL_REQUEST'))
  const place = { apiUrl: needed('GITHUB_API_URL'), repository: needed('GITHUB_REPOSITORY'), pullRequest, token: needed('GITHUB_TOKEN') }
  const label = process.env['LABEL'] || 'default'
  const runUrl = `${needed('GITHUB_SERVER_URL')}/${place.repository}/actions/runs/${needed('GITHUB_RUN_ID')}`
  const done = await upsertComment(place, label, commentBody(plans, { label, commit: needed('COMMIT'), runUrl }))
  process.stdout.write(`comment ${done}\n`)
}

if (import.meta.main) {
  await main(process.argv.slice(2)).catch((error: unknown) => {
    process.stderr.write(`error: ${error instanceof Error ? error.message : String(error)}\n`)
    process.exitCode = 1
  })
}
