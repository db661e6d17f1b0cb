// Keeps a page fresh: asks for it again when the daemon tells of a change, replaces only what differs and nobody uses, and says when what is shown
// may be old. It writes nothing.
import { learnSkew, readyPage } from './ready.ts'

const EVENTS = '/api/v1/events'
/** Changes come in bursts: one fetch for all of one moment. */
const SETTLE_MS = 400
/** What somebody was in the middle of is looked at again after so long. */
const IN_USE_MS = 5_000
/** Without a sign of life for so long, what is shown may be old. */
const STALE_MS = 35_000
const LOOK_MS = 10_000

function say(text: string, isStale: boolean): void {
  const state = document.querySelector('#live')
  if (!state || state.textContent === text) return
  state.textContent = text
  state.classList.toggle('stale', isStale)
}

/** Asks for a page, without putting it anywhere. Rejects where what comes is none. */
export async function pageAt(url: string, signal?: AbortSignal): Promise<Document> {
  const answer = await fetch(url, { headers: { Accept: 'text/html' }, ...(signal && { signal }) })
  const isPage = answer.ok && !answer.redirected && answer.headers.get('Content-Type')?.startsWith('text/html') === true
  if (!isPage) throw new Error(`${answer.status} and no page`)
  learnSkew(answer)
  return new DOMParser().parseFromString(await answer.text(), 'text/html')
}

const filesOf = (page: Document): string => [...page.head.querySelectorAll('link, script')].map(({ outerHTML }) => outerHTML).join()

/** Another release has its own style and script, which only a whole load brings. */
export const isOfThisRelease = (page: Document): boolean => filesOf(page) === filesOf(document)

// --- parts ---

/** Whether somebody reads or types in it just now: then it stays as it is. */
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

/** Puts the fresh part in the place of the old one, with what was open still open and the focus where it was. */
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

/** A part without the words of its times, which go on by themselves. */
const textOf = (part: Element): string => part.outerHTML.replace(/(<time[^>]*>)[^<]*/g, '$1')

const partsOf = (page: Document): readonly Element[] => [...(page.querySelector('main')?.children ?? [])]

/** As the server sent each part, before scripts touched it. */
let sent: readonly string[] = []

/** Remembers how the server sent the page that is about to be shown. */
export function rememberSent(page: Document): void {
  sent = partsOf(page).map(textOf)
}

/** Only what differs is replaced. Where the shape of the page changed, all of it is, unless somebody is in the middle of it. */
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
    // Another page came meanwhile, or is on its way.
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

/** A page that nobody sees keeps no connection: a browser has six of them for all its pages. */
function deaf(): void {
  events?.close()
  events = undefined
}

/** Hears of changes of what the present page is about: one workspace, or all. */
export function listen(): void {
  const [, workspace] = /^\/workspaces\/([^/]+)/.exec(location.pathname) ?? []
  const url = new URL(workspace === undefined ? EVENTS : `${EVENTS}?workspace=${workspace}`, location.href).href
  if (events?.url === url) return
  deaf()
  events = new EventSource(url)
  const heard = (): void => {
    heardAt = Date.now()
    say('Live', false)
  }
  const changed = (): void => {
    heard()
    refreshSoon()
  }
  events.onopen = heard
  events.onerror = () => say('No connection, may be old', true)
  events.addEventListener('change', changed)
  // What was missed cannot be told: the daemon was started anew, or one was away for long.
  events.addEventListener('reset', changed)
  events.addEventListener('beat', heard)
}

/** Starts to listen, where the page says how fresh it is. */
export function keepFresh(): void {
  rememberSent(document)
  if (document.querySelector('#live') === null) return
  document.addEventListener('visibilitychange', () => {
    if (document.hidden) return deaf()
    listen()
    refreshSoon(0)
  })
  setInterval(() => {
    if (Date.now() - heardAt > STALE_MS) say('No news, may be old', true)
  }, LOOK_MS)
  listen()
}
