// What a reader sees of a question without an answer: which, and the way back. It never says more than the one who refused it.
import { html } from '../../core/escape/html.ts'
import { renderFrame } from '../frame.ts'
import { OVERVIEW } from '../links.ts'
import { section } from '../parts.ts'

/** A whole document; `at` is the present instant. */
export const renderRefusal = (status: number, message: string, at: string): string =>
  renderFrame({
    heading: status === 404 ? 'Not found' : 'Not understood',
    at,
    parts: [section('Why', html`<p>${message}</p><p><a href="${OVERVIEW}">Back to the overview</a></p>`)],
  })
