// The page of a refusal: the server's message, and a link back.
import { html } from '../../core/escape/html.ts'
import { renderFrame } from '../frame.ts'
import { OVERVIEW, section } from '../parts.ts'

const HEADINGS: Readonly<Record<number, string>> = {
  400: 'Not understood',
  401: 'Not signed in',
  403: 'Not yours to see',
  404: 'Not found',
  503: 'Not now',
}

export const renderRefusal = (status: number, message: string): string =>
  renderFrame({
    heading: HEADINGS[status] ?? 'No answer',
    parts: [section('Why', html`<p>${message}</p><p><a href="${OVERVIEW}">To the overview</a></p>`)],
  })
