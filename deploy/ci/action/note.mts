// Keeps one note with the plan on a merge request of GitLab, as comment.mts does on GitHub: made once, found again by its mark and its author, and
// changed from then on. It talks to the GitLab API and to nothing else.
//   node note.mts FILE...     each FILE is the Markdown of one plan
import { readFileSync } from 'node:fs'
import { commentBody, markOf } from './comment.mts'

const NOTES_PER_PAGE = 100
/** A merge request with more notes than pages hold gets a new one. */
const PAGES = 50
const TIMEOUT_MS = 30_000

/** Where the note belongs, and a token of the project that may write notes (role Reporter, scope api). */
export interface MergeRequest {
  /** `CI_API_V4_URL`. */
  readonly apiUrl: string
  /** Number of the project. */
  readonly project: string
  /** Number of the merge request in its project. */
  readonly iid: number
  readonly token: string
}

interface Note {
  readonly id: number
  readonly body: string
}

/** Changes the note that is there, or makes it. Throws with the status when GitLab refuses. */
export async function upsertNote(place: MergeRequest, label: string, body: string): Promise<'created' | 'updated' | 'unchanged'> {
  const notes = `/projects/${encodeURIComponent(place.project)}/merge_requests/${place.iid}/notes`
  const found = await findNote(place, notes, markOf(label))
  if (found?.body === body) return 'unchanged'
  if (found) await call(place, 'PUT', `${notes}/${found.id}`, { body })
  else await call(place, 'POST', notes, { body })
  return found ? 'updated' : 'created'
}

/** Only a note of the token's own user: anybody may write the mark, and nobody's own words are overwritten. */
async function findNote(place: MergeRequest, notes: string, mark: string): Promise<Note | undefined> {
  const { id: me } = Object(await call(place, 'GET', '/user'))
  if (typeof me !== 'number') throw new Error('GitLab does not say whose token this is')
  for (let page = 1; page <= PAGES; page += 1) {
    const answer = await call(place, 'GET', `${notes}?sort=asc&order_by=created_at&per_page=${NOTES_PER_PAGE}&page=${page}`)
    const all = Array.isArray(answer) ? answer : []
    const found = all.flatMap((one) => noteOf(one, me)).find((one) => one.body.startsWith(mark))
    if (found || all.length < NOTES_PER_PAGE) return found
  }
  return undefined
}

function noteOf(value: unknown, me: number): readonly Note[] {
  const { id, body, author, system } = Object(value)
  return Object(author).id === me && system !== true && typeof id === 'number' && typeof body === 'string' ? [{ id, body }] : []
}

async function call({ apiUrl, token }: MergeRequest, method: 'GET' | 'POST' | 'PUT', path: string, body?: unknown): Promise<unknown> {
  const answer = await fetch(`${apiUrl}${path}`, {
    method,
    headers: { 'content-type': 'application/json', 'private-token': token },
    signal: AbortSignal.timeout(TIMEOUT_MS),
    redirect: 'error',
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  if (answer.ok) return answer.json()
  const hint = [401, 403, 404].includes(answer.status) ? '; the token needs the scope api and the role Reporter in this project' : ''
  throw new Error(`GitLab answered ${answer.status} to ${method} ${path}${hint}`)
}

function needed(name: string): string {
  const value = process.env[name]
  if (!value) throw new Error(`${name} is not set; this script runs in a GitLab pipeline of a merge request`)
  return value
}

async function main(files: readonly string[]): Promise<void> {
  const plans = files.map((file) => readFileSync(file, 'utf8').trim())
  const iid = Number(needed('CI_MERGE_REQUEST_IID'))
  const place = { apiUrl: needed('CI_API_V4_URL'), project: needed('CI_PROJECT_ID'), iid, token: needed('GITLAB_TOKEN') }
  const label = process.env['LABEL'] || 'default'
  const body = commentBody(plans, { label, commit: needed('CI_COMMIT_SHA'), runUrl: needed('CI_JOB_URL') })
  process.stdout.write(`note ${await upsertNote(place, label, body)}\n`)
}

if (import.meta.main) {
  await main(process.argv.slice(2)).catch((error: unknown) => {
    process.stderr.write(`error: ${error instanceof Error ? error.message : String(error)}\n`)
    process.exitCode = 1
  })
}
