// Turns what changed in a checkout into a pull request: one branch, one commit, opened by the API of GitHub. Nothing here merges, and nothing is
// ever part of a shell line: programs get lists of words, and the API gets JSON.
import { execFileSync } from 'node:child_process'
import { appendFileSync } from 'node:fs'

const TIMEOUT_MS = 60_000

/** Where the job runs, as GitHub tells it in the environment. */
export interface Job {
  readonly apiUrl: string
  readonly graphqlUrl: string
  readonly serverUrl: string
  /** `owner/name`. */
  readonly repository: string
  readonly token: string
  /** The branch that pull requests go to. */
  readonly base: string
}

export function jobOf(env: NodeJS.ProcessEnv): Job {
  const needed = (name: string): string => {
    const value = env[name]
    if (value === undefined || value === '') throw new Error(`${name} is not set`)
    return value
  }
  return {
    apiUrl: needed('GITHUB_API_URL'),
    graphqlUrl: needed('GITHUB_GRAPHQL_URL'),
    serverUrl: needed('GITHUB_SERVER_URL'),
    repository: needed('GITHUB_REPOSITORY'),
    token: needed('GITHUB_TOKEN'),
    base: needed('BASE'),
  }
}

/** One request to the API. Throws for any answer but a good one. */
export async function ask(job: Job, method: string, url: string, body?: unknown): Promise<unknown> {
  const answer = await fetch(url, {
    method,
    headers: { authorization: `Bearer ${job.token}`, accept: 'application/vnd.github+json', 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(TIMEOUT_MS),
    redirect: 'error',
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${method} ${new URL(url).pathname} answered ${answer.status}: ${text.slice(0, 500)}`)
  return text === '' ? undefined : JSON.parse(text)
}

export const pathIn = (job: Job, path: string): string => `${job.apiUrl}/repos/${job.repository}${path}`

/** Runs git. The token goes by the environment, which no list of processes shows. */
export function git(job: Job, ...words: readonly string[]): string {
  const basic = Buffer.from(`x-access-token:${job.token}`).toString('base64')
  const env = {
    ...process.env,
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: `http.${job.serverUrl}/.extraheader`,
    GIT_CONFIG_VALUE_0: `AUTHORIZATION: basic ${basic}`,
    GIT_TERMINAL_PROMPT: '0',
  }
  return execFileSync('git', [...words], { encoding: 'utf8', env, timeout: TIMEOUT_MS, stdio: ['ignore', 'pipe', 'inherit'] })
}

export const isChanged = (job: Job): boolean => git(job, 'status', '--porcelain').trim() !== ''

export const branchExists = (job: Job, branch: string): boolean => git(job, 'ls-remote', 'origin', `refs/heads/${branch}`).trim() !== ''

/** Commits everything that changed and pushes it as this branch, over what the branch was. */
export function pushBranch(job: Job, branch: string, message: string): void {
  const bot = ['-c', 'user.name=capkeeper', '-c', 'user.email=capkeeper@users.noreply.github.com']
  git(job, 'checkout', '-q', '-B', branch)
  git(job, 'add', '--all')
  git(job, ...bot, '-c', 'commit.gpgSign=false', 'commit', '-q', '--no-verify', '--cleanup=verbatim', '-m', message)
  git(job, 'push', '-q', '--force', 'origin', `HEAD:refs/heads/${branch}`)
}

/** A closed pull request and its branch go; without one, nothing happens. */
export async function dropBranch(job: Job, branch: string): Promise<boolean> {
  if (!branchExists(job, branch)) return false
  for (const { number } of await openPullRequests(job, branch))
    await ask(job, 'PATCH', pathIn(job, `/pulls/${number}`), { state: 'closed' })
  git(job, 'push', '-q', 'origin', '--delete', `refs/heads/${branch}`)
  return true
}

async function openPullRequests(job: Job, branch: string): Promise<readonly { readonly number: number }[]> {
  const [owner = ''] = job.repository.split('/')
  const head = encodeURIComponent(`${owner}:${branch}`)
  return (await ask(job, 'GET', pathIn(job, `/pulls?state=open&head=${head}`))) as readonly { readonly number: number }[]
}

/** Opens the pull request of a branch, or changes the one that is open. */
export async function openPullRequest(job: Job, branch: string, { title, body }: { readonly title: string; readonly body: string }) {
  const [open] = await openPullRequests(job, branch)
  if (open) await ask(job, 'PATCH', pathIn(job, `/pulls/${open.number}`), { title, body })
  else await ask(job, 'POST', pathIn(job, '/pulls'), { head: branch, base: job.base, title, body })
}

/** A text of others as one line of code in Markdown: it makes no mention, no link and no markup. */
export function quoted(text: string, most = 300): string {
  const line = text.replace(/[\s\p{Cc}\p{Cf}]+/gu, ' ').trim()
  const shown = line.length > most ? `${line.slice(0, most)}…` : line
  const fence = '`'.repeat(Math.max(0, ...(shown.match(/`+/g) ?? []).map((run) => run.length)) + 1)
  return `${fence} ${shown} ${fence}`
}

/** Shows a line in the summary of the job. */
export function say(line: string): void {
  process.stdout.write(`${line}\n`)
  const { GITHUB_STEP_SUMMARY: summary } = process.env
  if (summary !== undefined && summary !== '') appendFileSync(summary, `${line}\n\n`)
}
