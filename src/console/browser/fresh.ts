// Keeps a page up to date: fetches it again when the daemon reports a change, replaces the parts that differ and are not in use, and says when the page
// may be out of date.
import { readyPage } from './ready.ts'

const EVENTS = '/api/v1/events'
/** Changes come in bursts; one fetch serves all within this time. */
const SETTLE_MS = 400
/** A part in use is tried again after this time. */
const IN_USE_MS = 5_000
/** Without any event for this long the page may be out of date. */
const STALE_MS = 35_000
const CHECK_MS = 10_000

function say(text: string, isStale: boolean): void {
  const state = document.querySelector('#live')
  if (!state || state.textContent === text) return
  state.textContent = text
  state.classList.toggle('stale', isStale)
}

/** Fetches a page. Rejects when the answer is no page. */
export async function pageAt(url: string, signal?: AbortSignal): Promise<Document> {
  const answer = await fetch(url, { headers: { Accept: 'text/html' }, ...(signal && { signal }) })
  const isPage = answer.ok && !answer.redirected && answer.headers.get('Content-Type')?.startsWith('text/html') === true
  if (!isPage) throw new Error(`${answer.status} and no page`)
  return new DOMParser().parseFromString(await answer.text(), 'text/html')
}

const filesOf = (page: Document): string => [...page.head.querySelectorAll('link, script')].map(({ outerHTML }) => outerHTML).join()

/** Another release has other styles and scripts, which need a whole load. */
export const isOfThisRelease = (page: Document): boolean => filesOf(page) === filesOf(document)

// --- parts ---

/** Whether the viewer selects, types or points in it. */
function isInUse(element: Element): boolean {
  const selection = document.getSelection()
  if (selection && !selection.isCollapsed && selection.containsNode(element, true)) return true
  const focused = document.activeElement
  return (
    focused !== null && element.contains(focused) && (focused.matches('input, select, textarea') || element.querySelector('.tip') !== null)
  )
}

const nameOf = (details: Element, index: number): string =>
  `${index}:${details.querySelector('summary')?.textContent?.replace(/[\d,.]+/g, '') ?? ''}`

/** Replaces a part, and keeps opened details, the scroll position and the focus. */
function replacePart(old: Element, fresh: Element): void {
  const open = new Set([...old.querySelectorAll('details')].flatMap((one, index) => (one.open ? [nameOf(one, index)] : [])))
  for (const [index, one] of [...fresh.querySelectorAll('details')].entries()) if (open.has(nameOf(one, index))) one.open = true
  const focusable = 'a, button, input, select, summary, [tabindex]'
  const focusedAt = [...old.querySelectorAll(focusable)].indexOf(document.activeElement ?? old)
  const scrolled = [...old.querySelectorAll('.scroll')].map((one) => one.scrollLeft)
  old.replaceWith(fresh)
  for (const [index, one] of [...fresh.querySelectorAll('.scroll')].entries()) one.scrollLeft = scrolled[index] ?? 0
  readyPage()
  const focused = [...fresh.querySelectorAll<HTMLElement>(focusable)][focusedAt]
  if (focusedAt >= 0) focused?.focus({ preventScroll: true })
}

/** The markup of a part without the text of its times, which change by themselves. */
const textOf = (part: Element): string => part.outerHTML.replace(/(<time[^>]*>)[^<]*/g, '$1')

const partsOf = (page: Document): readonly Element[] => [...(page.querySelector('main')?.children ?? [])]

/** As the server sent each part, before scripts touched it. */
let sent: readonly string[] = []

export function rememberSent(page: Document): void {
  sent = partsOf(page).map(textOf)
}

/** Replaces the parts that differ, or all of them where their number changed. False when a part in use was left. */
function show(fresh: Document): boolean {
  const olds = partsOf(document)
  const news = partsOf(fresh)
  const texts = news.map(textOf)
  const main = document.querySelector('main')
  if (olds.length !== news.length) {
    if (!main || isInUse(main)) return false
    main.replaceChildren(...news)
    readyPage()
    sent = texts
    return true
  }
  let isWhole = true
  const shown = [...sent]
  for (const [index, old] of olds.entries()) {
    const part = news[index]
    const text = texts[index]
    if (!part || text === undefined || sent[index] === text) continue
    if (isInUse(old)) isWhole = false
    else {
      replacePart(old, part)
      shown[index] = text
    }
  }
  sent = shown
  document.title = fresh.title
  return isWhole
}

// --- events ---

let heardAt = Date.now()
let isWaiting = false
let events: EventSource | undefined

async function refresh(): Promise<void> {
  isWaiting = false
  if (document.hidden) return
  const url = location.href
  try {
    const fresh = await pageAt(url)
    // The viewer went to another page meanwhile.
    if (location.href !== url || window.navigation?.transition) return
    if (!isOfThisRelease(fresh)) return location.reload()
    const isWhole = show(fresh)
    say(isWhole ? 'Live' : 'Live; newer figures wait until you are done here', false)
    if (!isWhole) refreshSoon(IN_USE_MS)
  } catch {
    say('No connection, may be old', true)
  }
}

function refreshSoon(afterMs = SETTLE_MS): void {
  if (isWaiting) return
  isWaiting = true
  setTimeout(refresh, afterMs)
}

/** A hidden page keeps no connection, because a browser has six of them for all its pages. */
function stopListening(): void {
  events?.close()
  events = undefined
}

/** Listens to changes of the workspace of the present page, or of all. */
export function listen(): void {
  const [, workspace] = /^\/workspaces\/([^/]+)/.exec(location.pathname) ?? []
  const url = new URL(workspace === undefined ? EVENTS : `${EVENTS}?workspace=${workspace}`, location.href).href
  if (events?.url === url) return
  stopListening()
  events = new EventSource(url)
  const heard = (): void => {
    heardAt = Date.now()
    say('Live', false)
  }
  const changed = (): void => {
    heard()
    refreshSoon()
  }
  let isLost = false
  events.onopen = () => {
    heard()
    // Changes may have been missed.
    if (isLost) refreshSoon()
    isLost = false
  }
  events.onerror = () => {
    isLost = true
    say('No connection, may be old', true)
  }
  events.addEventListener('change', changed)
  events.addEventListener('beat', heard)
}

export function keepFresh(): void {
  rememberSent(document)
  if (document.querySelector('#live') === null) return
  document.addEventListener('visibilitychange', () => {
    if (document.hidden) return stopListening()
    listen()
    refreshSoon(0)
  })
  setInterval(() => {
    if (Date.now() - heardAt > STALE_MS) say('No news, may be old', true)
  }, CHECK_MS)
  listen()
}
