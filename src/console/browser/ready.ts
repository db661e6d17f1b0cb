// Prepares markup of the server: times in the viewer's time zone that keep counting, buttons that copy a line, charts.
import { readyCharts } from './charts.ts'

const TICK_MS = 10_000

const UNITS: readonly (readonly [seconds: number, unit: string])[] = [
  [86_400, 'd'],
  [3_600, 'h'],
  [60, 'min'],
  [1, 's'],
]

const ABSOLUTE = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })

/** The viewer's clock minus the daemon's. */
let skewMs = 0

/** Updates the difference from the `Date` of an answer, which is in whole seconds. */
export function learnSkew(answer: Response): void {
  const date = Date.parse(answer.headers.get('Date') ?? '')
  if (!Number.isNaN(date) && Math.abs(Date.now() - date) > 2_000) skewMs = Date.now() - date
}

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
