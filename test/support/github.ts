// The part of the GitHub API that keeping a comment needs, on loopback: lists comments in pages, creates and edits them, refuses other
// tokens.
import { serve } from '../api/world.ts'

interface StoredComment {
  readonly id: number
  readonly body: string
  readonly user: { readonly type: 'Bot' | 'User' }
}

export const GITHUB_TOKEN = 'a-token-of-this-job'
const LIST = '/repos/acme/policies/issues/7/comments'
const ONE = /^\/repos\/acme\/policies\/issues\/comments\/(\d+)$/

const textOf = (body: string): string => {
  const { body: text } = Object(JSON.parse(body))
  if (typeof text !== 'string' || text.length > 65_536) throw new Error('422')
  return text
}

/** Serves these comments; ends with the test. */
export async function fakeGithub(before: readonly Omit<StoredComment, 'id'>[] = []) {
  let comments: readonly StoredComment[] = before.map((one, index) => ({ ...one, id: index + 1 }))
  const requests: string[] = []
  const answer = (method: string, url: URL, body: string): readonly [status: number, value: unknown] => {
    const changed = Number(ONE.exec(url.pathname)?.[1])
    if (method === 'GET' && url.pathname === LIST) {
      const [size, page] = [Number(url.searchParams.get('per_page')), Number(url.searchParams.get('page'))]
      return [200, comments.slice((page - 1) * size, page * size)]
    }
    if (method === 'POST' && url.pathname === LIST) {
      const made: StoredComment = { id: comments.length + 1, body: textOf(body), user: { type: 'Bot' } }
      comments = [...comments, made]
      return [201, made]
    }
    if (method === 'PATCH' && comments.some(({ id }) => id === changed)) {
      comments = comments.map((one) => (one.id === changed ? { ...one, body: textOf(body) } : one))
      return [200, {}]
    }
    return [404, { message: 'Not Found' }]
  }
  const { url } = await serve((request, response, body) => {
    requests.push(`${request.method} ${request.url}`)
    const isKnown = request.headers.authorization === `Bearer ${GITHUB_TOKEN}`
    const [status, value] = isKnown
      ? answer(request.method ?? '', new URL(request.url ?? '', 'http://localhost'), body)
      : [403, { message: 'no' }]
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
  })
  // The comments of pull request 7 of acme/policies, and each request, such as `PATCH /repos/acme/policies/issues/comments/3`.
  return { url, comments: () => comments, requests }
}
