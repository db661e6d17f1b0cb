// Sets the status of a commit from capkeeper's messages about events: a webhook of format `json` that no owner names. It listens on this machine or
// in the pod, and needs nothing but Node 24: `node status.mts`.
//
//   FORGE=github|gitlab   API_URL=https://api.github.com | https://gitlab.example/api/v4
//   REPOSITORY=owner/name, or GitLab's project (path or number)
//   TOKEN_FILE            a token that may write commit statuses, and nothing else
//   SECRET_FILE           the last part of the webhook's address: http://HOST:PORT/SECRET, at least 16 letters and digits
//   PORT=8790  HOST=127.0.0.1
//
// Messages are data: nothing of them is run, and only these fields are used. A revision that is no whole commit sets no status.
import { createHash, timingSafeEqual } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'

const MOST_BYTES = 256 * 1024
const TIMEOUT_MS = 10_000
/** GitHub takes 140 characters. */
const MOST_IN_DESCRIPTION = 140

const needed = (name: string): string => {
  const value = process.env[name]
  if (value === undefined || value === '') throw new Error(`${name} is not set`)
  return value
}
const say = (text: string): void => void process.stdout.write(`${text}\n`)
const textIn = (file: string): string => readFileSync(file, 'utf8').trim()

const forge = needed('FORGE')
if (forge !== 'github' && forge !== 'gitlab') throw new Error('FORGE is github or gitlab')
const apiUrl = needed('API_URL').replace(/\/+$/, '')
const repository = needed('REPOSITORY')
if (forge === 'github' && !/^[\w.-]+\/[\w.-]+$/.test(repository)) throw new Error('REPOSITORY is owner/name')
const tokenFile = needed('TOKEN_FILE')
const secret = textIn(needed('SECRET_FILE'))
if (!/^[A-Za-z0-9]{16,}$/.test(secret)) throw new Error('SECRET_FILE needs at least 16 letters and digits')

type State = 'success' | 'pending' | 'failure'

interface Status {
  readonly sha: string
  readonly state: State
  readonly context: string
  readonly description: string
}

/** Undefined for a message that is about no commit. */
function statusOf(message: unknown): Status | undefined {
  if (typeof message !== 'object' || message === null) return undefined
  const { kind, about, workspace, values } = message as Record<string, unknown>
  if (kind !== 'Notification' || about !== 'event' || typeof workspace !== 'string' || typeof values !== 'object' || values === null)
    return undefined
  const { revision, event, count, held, rejected } = values as Record<string, unknown>
  if (typeof revision !== 'string' || !/^([0-9a-f]{40}|[0-9a-f]{64})$/.test(revision)) return undefined
  // A foreign change says nothing about the commit, and a grant that ends was reviewed with it.
  if (event === 'reverted' || event === 'grantEnding') return undefined
  const [waiting, refused] = [Number(held) || 0, Number(rejected) || 0]
  const of = { sha: revision, context: `capkeeper/${workspace}` }
  if (refused > 0) return { ...of, state: 'failure', description: `${refused} rejected` }
  if (waiting > 0) return { ...of, state: 'pending', description: `${waiting} changes held, an approval is needed` }
  if (event === 'paused') return { ...of, state: 'pending', description: 'writing is paused' }
  return { ...of, state: 'success', description: `${Number(count) || 0} caps written` }
}

/** POST /repos/{owner}/{repo}/statuses/{sha}, or POST /projects/:id/statuses/:sha. */
function requestOf({ sha, state, context, description: whole }: Status, token: string): Request {
  const description = whole.slice(0, MOST_IN_DESCRIPTION)
  const options = { method: 'POST', redirect: 'error', signal: AbortSignal.timeout(TIMEOUT_MS) } as const
  if (forge === 'github') {
    return new Request(`${apiUrl}/repos/${repository}/statuses/${sha}`, {
      ...options,
      headers: {
        authorization: `Bearer ${token}`,
        accept: 'application/vnd.github+json',
        'x-github-api-version': '2022-11-28',
        'content-type': 'application/json',
        'user-agent': 'capkeeper-commit-status',
      },
      body: JSON.stringify({ state, context, description }),
    })
  }
  return new Request(`${apiUrl}/projects/${encodeURIComponent(repository)}/statuses/${sha}`, {
    ...options,
    headers: { 'private-token': token, 'content-type': 'application/json' },
    body: JSON.stringify({ state: state === 'failure' ? 'failed' : state, name: context, description }),
  })
}

const hash = (text: string): Buffer => createHash('sha256').update(text).digest()
const isSecret = (path: string): boolean => timingSafeEqual(hash(path), hash(`/${secret}`))

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const parts: Buffer[] = []
  let bytes = 0
  for await (const part of request) {
    bytes += part.length
    if (bytes > MOST_BYTES) throw new Error('the message is too long')
    parts.push(part)
  }
  return JSON.parse(Buffer.concat(parts).toString('utf8'))
}

/** The answer to a message: 204 when there is nothing to do, 502 so that capkeeper tries again. */
async function answerTo(request: IncomingMessage): Promise<number> {
  if (request.method !== 'POST' || !isSecret(request.url ?? '')) return 404
  const message = await bodyOf(request).catch(() => undefined)
  if (message === undefined) return 400
  const status = statusOf(message)
  if (!status) return 204
  const answer = await fetch(requestOf(status, textIn(tokenFile)))
  await answer.body?.cancel()
  say(`${status.context} ${status.sha} ${status.state}: the forge answered ${answer.status}`)
  if (answer.ok) return 200
  // Anything else will not be better the next time: GitLab, for one, refuses a status that is set already.
  if (answer.status >= 500 || answer.status === 429 || answer.status === 401 || answer.status === 403) return 502
  return 422
}

const server = createServer((request, response) => {
  answerTo(request)
    .catch((error: unknown) => {
      say(error instanceof Error ? error.message : 'failed')
      return 502
    })
    .then((code) => response.writeHead(code).end())
})
server.requestTimeout = TIMEOUT_MS
server.listen(Number(process.env['PORT'] ?? 8790), process.env['HOST'] ?? '127.0.0.1', () => {
  const address = server.address()
  say(`listening on ${typeof address === 'object' && address ? address.port : ''}`)
})
