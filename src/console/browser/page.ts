// What a page can do once scripts run: times in the viewer's own zone that go on counting, charts that tell their figures to pointer and keys,
// lines that copy themselves, and fresh contents when the daemon's state changes. It runs in the browser, loads nothing and writes nothing.

const EVENTS = '/api/v1/events'
/** Changes come in bursts: one fetch for all of one moment. */
const SETTLE_MS = 400
/** Without a sign of life for so long, what is shown may be old. */
const STALE_MS = 35_000
const TICK_MS = 10_000

// --- times ---

const UNITS: readonly (readonly [seconds: number, unit: string])[] = [
  [86_400, 'd'],
  [3_600, 'h'],
  [60, 'min'],
  [1, 's'],
]

const ABSOLUTE = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })

/** How far the viewer's clock is from the daemon's. */
let skewMs = 0

function relative(at: number): string {
  const seconds = Math.round((at - (Date.now() - skewMs)) / 1000)
  const [size, unit] = UNITS.find(([step]) => Math.abs(seconds) >= step) ?? [1, 's']
  const count = `${Math.floor(Math.abs(seconds) / size)} ${unit}`
  return seconds > 0 ? `in ${count}` : `${count} ago`
}

function showTimes(): void {
  for (const time of document.querySelectorAll('time')) {
    const at = Date.parse(time.dateTime)
    if (Number.isNaN(at)) continue
    const text = time.hasAttribute('data-relative') ? relative(at) : time.hasAttribute('data-instant') ? ABSOLUTE.format(at) : ''
    if (text !== '' && time.textContent !== text) time.textContent = text
    time.title = `${ABSOLUTE.format(at)} (${time.dateTime})`
  }
}

// --- lines to paste ---

function showCopyButtons(): void {
  for (const button of document.querySelectorAll<HTMLButtonElement>('button[data-copy]')) button.hidden = navigator.clipboard === undefined
}

async function copy(button: HTMLButtonElement): Promise<void> {
  await navigator.clipboard.writeText(button.parentElement?.querySelector('pre')?.textContent ?? '')
  button.textContent = 'Copied'
  setTimeout(() => {
    button.textContent = 'Copy'
  }, 1500)
}

// --- charts ---

const tip = document.createElement('div')
tip.className = 'tip'
tip.setAttribute('aria-live', 'polite')

/** Shows the row of the table that belongs to one part of the time axis. */
function pointTo(drawing: Element, index: number): void {
  const slots = [...drawing.querySelectorAll('.slots rect')]
  const slot = slots[index]
  const table = drawing.parentElement?.querySelector('table')
  const row = table?.tBodies[0]?.rows[index]
  if (!slot || !table || !row) return
  for (const one of slots) one.classList.toggle('at', one === slot)
  const heads = [...(table.tHead?.rows[0]?.cells ?? [])].map((cell) => cell.textContent ?? '')
  const title = document.createElement('strong')
  title.textContent = row.cells[0]?.textContent ?? ''
  const list = document.createElement('dl')
  for (const [column, cell] of [...row.cells].entries()) {
    const text = cell.textContent ?? ''
    if (column === 0 || text === '–' || text === '') continue
    const name = document.createElement('dt')
    name.textContent = heads[column] ?? ''
    const value = document.createElement('dd')
    value.textContent = text
    list.append(name, value)
  }
  tip.replaceChildren(title, list)
  drawing.append(tip)
  const place = drawing.getBoundingClientRect()
  const at = slot.getBoundingClientRect()
  const middle = at.left + at.width / 2 - place.left
  const left = middle > place.width / 2 ? middle - tip.offsetWidth - 12 : middle + 12
  tip.style.left = `${Math.max(0, left)}px`
}

function leave(): void {
  for (const one of document.querySelectorAll('.slots rect.at')) one.classList.remove('at')
  tip.remove()
}

function slotAt(drawing: Element): number {
  return [...drawing.querySelectorAll('.slots rect')].findIndex((one) => one.classList.contains('at'))
}

/** The browser's own titles give way to the tip; keys move along the time axis. */
function readyCharts(): void {
  for (const drawing of document.querySelectorAll<HTMLElement>('.drawing:not([tabindex])')) {
    drawing.tabIndex = 0
    drawing.setAttribute('role', 'group')
    drawing.setAttribute(
      'aria-label',
      `${drawing.querySelector('svg')?.getAttribute('aria-label') ?? ''} Arrow keys tell the figures day by day.`,
    )
    for (const title of drawing.querySelectorAll('.slots title')) title.remove()
  }
}

function moveBy(event: KeyboardEvent, drawing: Element): void {
  const steps: Readonly<Record<string, number>> = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity }
  const step = steps[event.key]
  if (event.key === 'Escape') leave()
  if (step === undefined) return
  event.preventDefault()
  const last = drawing.querySelectorAll('.slots rect').length - 1
  pointTo(drawing, Math.max(0, Math.min(last, slotAt(drawing) + step)))
}

// --- fresh contents ---

const state = document.querySelector<HTMLElement>('#live')

function say(text: string, isStale: boolean): void {
  if (!state || state.textContent === text) return
  state.textContent = text
  state.classList.toggle('stale', isStale)
}

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

/** As the server sent each part, before scripts touched it. */
let sent: readonly string[] = partsOf(document).map(textOf)

function partsOf(root: ParentNode): readonly Element[] {
  return [...(root.querySelector('main')?.children ?? [])]
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

let heardAt = Date.now()
let isWaiting = false

async function refresh(): Promise<void> {
  isWaiting = false
  if (document.hidden) return
  try {
    const answer = await fetch(location.href, { headers: { Accept: 'text/html' }, cache: 'no-store' })
    const date = Date.parse(answer.headers.get('Date') ?? '')
    if (!answer.ok) throw new Error(String(answer.status))
    if (!Number.isNaN(date) && Math.abs(Date.now() - date) > 2_000) skewMs = Date.now() - date
    const isWhole = show(new DOMParser().parseFromString(await answer.text(), 'text/html'))
    say(isWhole ? 'Live' : 'Live; newer figures wait until you are done here', false)
    if (!isWhole) refreshSoon(5_000)
  } catch {
    say('No connection, may be old', true)
  }
}

function refreshSoon(afterMs = SETTLE_MS): void {
  if (isWaiting) return
  isWaiting = true
  setTimeout(refresh, afterMs)
}

function listen(): void {
  const [, workspace] = /^\/workspaces\/([^/]+)/.exec(location.pathname) ?? []
  const events = new EventSource(workspace === undefined ? EVENTS : `${EVENTS}?workspace=${workspace}`)
  const heard = (): void => {
    heardAt = Date.now()
    say('Live', false)
  }
  events.onopen = heard
  events.onerror = () => say('No connection, may be old', true)
  const changed = (): void => {
    heard()
    refreshSoon()
  }
  events.addEventListener('change', changed)
  // What was missed cannot be told: the daemon was started anew, or one was away for long.
  events.addEventListener('reset', changed)
  events.addEventListener('beat', heard)
}

// --- the page ---

function readyPage(): void {
  showTimes()
  showCopyButtons()
  readyCharts()
}

const drawingOf = (target: EventTarget | null): Element | null => (target instanceof Element ? target.closest('.drawing') : null)

document.addEventListener('pointermove', (event) => {
  const drawing = drawingOf(event.target)
  if (!drawing) return leave()
  const slot = event.target instanceof Element ? event.target.closest('.slots rect') : null
  if (slot) pointTo(drawing, [...drawing.querySelectorAll('.slots rect')].indexOf(slot))
})
document.addEventListener('keydown', (event) => {
  const drawing = drawingOf(event.target)
  if (drawing) moveBy(event, drawing)
})
document.addEventListener('focusout', leave)
document.addEventListener('click', (event) => {
  const button = event.target instanceof Element ? event.target.closest<HTMLButtonElement>('button[data-copy]') : null
  if (button) void copy(button)
})
document.addEventListener('visibilitychange', () => {
  if (!document.hidden) refreshSoon(0)
})
setInterval(() => {
  showTimes()
  if (Date.now() - heardAt > STALE_MS) say('No news, may be old', true)
}, TICK_MS)
readyPage()
document.querySelector('.side [aria-current]')?.scrollIntoView({ inline: 'center', block: 'nearest' })
if (state) listen()
