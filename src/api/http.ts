// Requests over real HTTP: got, its agents, the proxy. One request goes out exactly once (no retry and no redirect of got's own), and what
// comes back is an answer of any status or a plain failure. A got error carries the request body, and so the key: only its code is ever
// looked at. got and hpagent are loaded with the first request, because commands that need no network must not pay for them.
import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import type { Got, Response } from 'got'
import { InputError } from '../core/problem.ts'
import type { SendOptions, Transport, TransportFailure, WireAnswer } from '../ports.ts'
import { parseBaseUrl, proxyFor } from './url.ts'
import { OPERATION_PATH } from './wire.ts'

/** The largest answer that is taken, after decompression. Choice: a roster of 50,000 people has about 20 MiB. */
export const MAX_ANSWER_BYTES = 64 * 1024 * 1024

export interface HttpTransportOptions {
  /** With or without path prefix, trailing slash, `/api/v1`. */
  readonly baseUrl: string
  /** `capkeeper/VERSION`. */
  readonly userAgent: string
  /** Where `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` are looked up. */
  readonly proxyEnv: Readonly<Record<string, string | undefined>>
  /** How many connections are kept at most. */
  readonly concurrency: number
}

export interface HttpTransport extends Transport {
  /** Closes the kept connections; requests under way fail. */
  close(): void
}

interface Agents {
  readonly http: HttpAgent
  readonly https: HttpsAgent
}

/** Carries requests to one base URL over kept-alive HTTP/1.1 connections. Throws an `InputError` for an unusable base URL or proxy. */
export function createHttpTransport(options: HttpTransportOptions): HttpTransport {
  const base = parseBaseUrl(options.baseUrl)
  if ('message' in base) throw new InputError([{ severity: 'error', code: 'BASE_URL_INVALID', message: base.message }])
  const proxy = checkedProxy(proxyFor(base.url, options.proxyEnv))
  let agents: Promise<Agents> | undefined
  let client: Promise<Got> | undefined
  return {
    async send(operation, body, sendOptions) {
      sendOptions.signal?.throwIfAborted()
      agents ??= openAgents(proxy, options.concurrency)
      client ??= agents.then((opened) => openClient(opened, options.userAgent))
      return exchange(await client, `${base.url}${OPERATION_PATH}${operation}`, body, sendOptions)
    },
    close() {
      void agents?.then((opened) => {
        opened.http.destroy()
        opened.https.destroy()
      })
    },
  }
}

function checkedProxy(proxy: string | undefined): string | undefined {
  if (proxy === undefined || (URL.canParse(proxy) && /^https?:$/.test(new URL(proxy).protocol))) return proxy
  throw new InputError([
    { severity: 'error', code: 'PROXY_INVALID', message: 'HTTPS_PROXY or HTTP_PROXY is not an address such as http://host:port' },
  ])
}

async function openAgents(proxy: string | undefined, concurrency: number): Promise<Agents> {
  const settings = { keepAlive: true, maxSockets: concurrency, maxFreeSockets: concurrency }
  if (proxy === undefined) return { http: new HttpAgent(settings), https: new HttpsAgent(settings) }
  const { HttpProxyAgent, HttpsProxyAgent } = await import('hpagent')
  return { http: new HttpProxyAgent({ ...settings, proxy }), https: new HttpsProxyAgent({ ...settings, proxy }) }
}

async function openClient(agent: Agents, userAgent: string): Promise<Got> {
  const { default: got } = await import('got')
  return got.extend({
    method: 'POST',
    agent,
    headers: { 'content-type': 'application/json', accept: 'application/json', 'user-agent': userAgent },
    http2: false,
    https: { rejectUnauthorized: true },
    retry: { limit: 0 },
    throwHttpErrors: false,
    followRedirect: false,
    responseType: 'text',
  })
}

/** Why the exchange was cut off from our side. */
type Cut = 'caller' | 'size'

async function exchange(
  client: Got,
  url: string,
  body: Readonly<Record<string, unknown>>,
  { timeoutMs, signal }: SendOptions,
): Promise<WireAnswer | TransportFailure> {
  const cutter = new AbortController()
  let cut: Cut | undefined
  const cutOff = (why: Cut): void => {
    cut ??= why
    cutter.abort()
  }
  const onAbort = (): void => cutOff('caller')
  signal?.addEventListener('abort', onAbort, { once: true })
  try {
    signal?.throwIfAborted()
    const request = client(url, { body: JSON.stringify(body), timeout: { request: timeoutMs }, signal: cutter.signal })
    request.on('downloadProgress', ({ transferred, total }) => {
      if (transferred > MAX_ANSWER_BYTES || (total ?? 0) > MAX_ANSWER_BYTES) cutOff('size')
    })
    return answerOf(await request)
  } catch (error) {
    if (signal?.aborted) throw signal.reason
    return cut === 'size' ? TOO_LARGE : failureOf(error, timeoutMs)
  } finally {
    signal?.removeEventListener('abort', onAbort)
  }
}

const TOO_LARGE: TransportFailure = {
  kind: 'network',
  message: `the answer is larger than ${MAX_ANSWER_BYTES / 1024 / 1024} MiB and was dropped`,
}

function answerOf(response: Response<string>): WireAnswer {
  const headers = Object.entries(response.headers).map(([name, value]) => [
    name.toLowerCase(),
    Array.isArray(value) ? value.join(', ') : value,
  ])
  return { status: response.statusCode, headers: Object.fromEntries(headers), body: response.body }
}

const REASONS: Readonly<Record<string, string | undefined>> = {
  ECONNREFUSED: 'nothing listens at the address',
  ECONNRESET: 'the connection was cut',
  EPIPE: 'the connection was cut',
  ENOTFOUND: 'the host name is not known',
  EAI_AGAIN: 'the host name cannot be looked up now',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
  ERR_READING_RESPONSE_STREAM: 'the answer was cut off',
}

/** Says what happened from the code alone: a message of got's may quote addresses, and its object holds the request. */
function failureOf(error: unknown, timeoutMs: number): TransportFailure {
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'unknown'
  if (code === 'ETIMEDOUT' && error instanceof Error && error.name === 'TimeoutError') {
    return { kind: 'timeout', message: `no answer within ${timeoutMs / 1000} s` }
  }
  const proxyStatus = error instanceof Error ? /^Bad response: (\d{3})$/.exec(error.message)?.[1] : undefined
  if (proxyStatus) return { kind: 'network', message: `the proxy refused to connect (${proxyStatus})` }
  const certificate = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ISSUER/.test(code) ? 'the certificate is not trusted' : undefined
  return { kind: 'network', message: `${certificate ?? REASONS[code] ?? 'the request did not get through'} (${code})` }
}
