// Clients of the pages that mean harm, as a table: each says what it sends, on how many connections, and whether it reads. `attacker.ts` runs them in a
// process of its own.

export interface Attack {
  /** Whether it attacks a daemon whose pages need a token, and whether it has the token. Default: the pages need none. */
  readonly token?: 'missing' | 'sent'
  /** It is tried on a workspace of 50,000 people. */
  readonly large?: true
  readonly connections: number
  /** Requests of one connection. */
  readonly requests: number
  /** What one request looks like. */
  readonly text: (request: number, connection: number) => string
  /** Whether it reads its answers; those that do not keep their connections for a while. */
  readonly reads: boolean
  /** A connection that is closed is opened again, so that there are always so many. */
  readonly again?: boolean
  /** Connections are opened at this rate; default: all at once. */
  readonly perSecond?: number
  /** It waits so long between two requests of a connection. */
  readonly pauseMs?: number
  /** It closes its own side after the last request. */
  readonly halfClose?: boolean
  /** It resets its connection a moment after the last request. */
  readonly resets?: boolean
}

const asks = (path: string, headers = '', method = 'GET'): string => `${method} ${path} HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n`
/** Half a megabyte, so that a few requests are many bytes. */
const LARGE = 'x'.repeat(512 * 1024)
const IN_ACME = '/workspaces/acme'
const OF_ACME = ['', '/groups', '/people', '/people?sort=use&limit=500', '/changes', '/holds', '/policies', '/health', '/series/credits']
const PAGES = ['/', '/status', '/metrics', '/api/v1/workspaces', ...OF_ACME.map((path) => `/api/v1${IN_ACME}${path}`)]

export const ATTACKS: Readonly<Record<string, Attack>> = {
  'other pages of people in the API, pipelined on one connection, unread': {
    connections: 1,
    requests: 10_000,
    text: (one) => asks(`/api/v1${IN_ACME}/people?page=${one + 1}`),
    reads: false,
  },
  'other pages of people in the API, on many connections, unread': {
    large: true,
    connections: 300,
    requests: 1,
    text: (_, connection) => asks(`/api/v1${IN_ACME}/people?limit=500&page=${1 + (connection % 100)}&search=${connection % 7}`),
    reads: false,
  },
  'every page and document, on many connections, read': {
    large: true,
    connections: 400,
    requests: 20,
    text: (one, connection) => asks(PAGES[(one + connection) % PAGES.length] ?? ''),
    reads: true,
  },
  'searches for people, pipelined on one connection, unread': {
    connections: 1,
    requests: 20_000,
    text: (one) => asks(`${IN_ACME}/people?search=${one}`),
    reads: false,
  },
  'searches for people, pipelined on many connections, unread': {
    connections: 500,
    requests: 200,
    text: (one, connection) => asks(`${IN_ACME}/people?search=${connection}.${one}`),
    reads: false,
  },
  'searches for people, pipelined on many connections, read': {
    connections: 100,
    requests: 200,
    text: (one, connection) => asks(`${IN_ACME}/people?search=${connection}.${one}`),
    reads: true,
  },
  '/openapi.json, pipelined on many connections, unread': {
    connections: 500,
    requests: 50,
    text: () => asks('/openapi.json'),
    reads: false,
  },
  '/metrics, on many connections, unread': {
    connections: 500,
    requests: 50,
    text: () => asks('/metrics'),
    reads: false,
  },
  '/ledger, on many connections, unread': {
    large: true,
    connections: 500,
    requests: 50,
    text: () => asks('/ledger'),
    reads: false,
  },
  '/livez, pipelined on one connection, read': {
    connections: 1,
    requests: 200_000,
    text: () => asks('/livez'),
    reads: true,
  },
  '/readyz, pipelined on a few connections, read': {
    connections: 8,
    requests: 10_000,
    text: () => asks('/readyz'),
    reads: true,
  },
  '/status, pipelined on a few connections, read': {
    connections: 8,
    requests: 2_000,
    text: (one) => asks(`/status?${one}`),
    reads: true,
  },
  'unknown addresses, pipelined on a few connections, read': {
    connections: 8,
    requests: 50_000,
    text: (one) => asks(`/x=${one}`),
    reads: true,
  },
  'unknown addresses, pipelined on a few connections, unread, without the token': {
    token: 'missing',
    connections: 4,
    requests: 50_000,
    text: (one) => asks(`/x=${one}`),
    reads: false,
  },
  'unknown addresses, pipelined on a few connections, read, without the token': {
    token: 'missing',
    connections: 8,
    requests: 50_000,
    text: (one) => asks(`/x=${one}`, 'Accept: text/html\r\n'),
    reads: true,
  },
  'unknown addresses, pipelined on many connections, read, with the token': {
    token: 'sent',
    connections: 400,
    requests: 500,
    text: (one) => asks(`/x=${one}`, 'Authorization: Bearer the-token\r\n'),
    reads: true,
  },
  'new connections, each asking for a page': {
    connections: 15_000,
    perSecond: 2_500,
    requests: 1,
    text: (_, connection) => asks(`${IN_ACME}/people?search=${connection}`),
    reads: true,
  },
  'new connections, each asking for a page, unread': {
    connections: 15_000,
    perSecond: 2_500,
    requests: 1,
    text: (_, connection) => asks(`${IN_ACME}/people?search=${connection}`),
    reads: false,
  },
  'new connections that send nothing': {
    large: true,
    connections: 15_000,
    perSecond: 2_500,
    requests: 0,
    text: () => '',
    reads: true,
  },
  'HEAD of pages, pipelined on a few connections, read': {
    connections: 8,
    requests: 20_000,
    text: (one) => asks(`${IN_ACME}/people?page=${1 + (one % 10)}`, '', 'HEAD'),
    reads: true,
  },
  'streams of events, opened and unread': {
    large: true,
    connections: 500,
    again: true,
    requests: 20,
    text: () => asks('/api/v1/events'),
    reads: false,
  },
  'heads that never end': {
    connections: 600,
    again: true,
    requests: 1,
    text: () => asks('/').slice(0, -2) + 'X-A: '.padEnd(15_000, 'a'),
    reads: true,
  },
  'heads that come slowly': {
    large: true,
    connections: 500,
    again: true,
    requests: 50,
    pauseMs: 100,
    text: (one) => (one === 0 ? asks('/').slice(0, -2) : `X-${one}: a\r\n`),
    reads: true,
  },
  'many header lines, pipelined, read': {
    connections: 8,
    requests: 2_000,
    text: () => asks('/livez', 'a:\r\n'.repeat(1_900)),
    reads: true,
  },
  'heads that are too large': {
    connections: 50,
    again: true,
    requests: 1,
    text: () => asks('/livez', 'a:\r\n'.repeat(20_000)),
    reads: true,
  },
  'large bodies': {
    connections: 8,
    requests: 50,
    text: () => asks('/status', `Content-Length: ${LARGE.length}\r\n`, 'POST') + LARGE,
    reads: true,
  },
  'bodies in chunks that never end': {
    connections: 8,
    again: true,
    requests: 100,
    text: (one) => (one === 0 ? asks('/status', 'Transfer-Encoding: chunked\r\n', 'POST') : `1000\r\n${'\r\n'.repeat(0x800)}\r\n`),
    reads: true,
  },
  'expectations, pipelined, unread': {
    connections: 8,
    requests: 20_000,
    text: (one) => asks('/livez', `Expect: ${one % 2 === 0 ? '100-continue' : 'nothing'}\r\n`),
    reads: false,
  },
  'upgrades, pipelined, unread': {
    connections: 8,
    requests: 20_000,
    text: () => asks('/livez', 'Connection: Upgrade\r\nUpgrade: websocket\r\n'),
    reads: false,
  },
  'empty lines': {
    connections: 8,
    requests: 100,
    text: () => '\r\n'.repeat(10_000),
    reads: true,
  },
  'pages, pipelined by clients that then close their side': {
    connections: 50,
    again: true,
    requests: 100,
    text: (one) => asks(`${IN_ACME}/changes?page=${one + 1}`),
    halfClose: true,
    reads: true,
  },
  'nothing, and reset their connections': {
    connections: 50,
    again: true,
    requests: 0,
    text: () => '',
    resets: true,
    reads: true,
  },
  'pages and half a head, and reset their connections': {
    connections: 50,
    again: true,
    requests: 20,
    text: (one, connection) => asks(PAGES[(one + connection) % PAGES.length] ?? '').slice(0, one === 19 ? 9 : undefined),
    resets: true,
    reads: true,
  },
}
