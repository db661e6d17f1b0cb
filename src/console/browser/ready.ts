// Prepares markup of the server: times in the viewer's time zone that keep counting, buttons that copy a line, charts.
import { relative } from '../words.ts'

const TICK_MS = 10_000

const ABSOLUTE = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })

function showTimes(): void {
  const now = new Date().toISOString()
  for (const time of document.querySelectorAll('time')) {
    const at = Date.parse(time.dateTime)
    if (Number.isNaN(at)) continue
    const text = time.hasAttribute('data-relative')
      ? relative(time.dateTime, now)
      : time.hasAttribute('data-instant')
        ? ABSOLUTE.format(at)
        : ''
    if (text !== '' && time.textContent !== text) time.textContent = text
    time.title = `${ABSOLUTE.format(at)} (${time.dateTime})`
  }
}

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

/** Call it after the page loaded, and after each part that was replaced. */
export function readyPage(): void {
  showTimes()
  showCopyButtons()
  readyCharts()
}

document.addEventListener('click', (event) => {
  const button = event.target instanceof Element ? event.target.closest<HTMLButtonElement>('button[data-copy]') : null
  if (button) void copy(button)
})
setInterval(showTimes, TICK_MS)

// Shows the figures of a chart under the pointer and to the arrow keys, from the chart's table. The server drew the chart.

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

/** Makes charts focusable, and removes the titles that the tip replaces. */
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
