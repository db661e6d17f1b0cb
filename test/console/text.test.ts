import { describe, expect, test } from 'vitest'
import { ago, compact, percent, relative, span } from '../../src/console/text.ts'
import { html } from '../../src/core/escape/html.ts'

describe('the template', () => {
  test('escapes text, keeps markup of its own, and leaves out what is not there', () => {
    const { markup } = html`<p>${'<b>'}${html`<i>${1}</i>`}${undefined}${false}${['a', html`<hr>`]}</p>`
    expect(markup).toBe('<p>&lt;b&gt;<i>1</i>a<hr></p>')
  })
})

describe('ages', () => {
  test.each([
    ['0 s', 0],
    ['12 s', 12],
    ['1 min', 60],
    ['1 min 1 s', 61],
    ['4 h 5 min', 4 * 3600 + 5 * 60 + 9],
    ['3 d', 3 * 86_400],
    ['3 d 2 h', 3 * 86_400 + 2 * 3600],
  ])('read as %s', (text, seconds) => {
    const from = '2026-11-20T12:00:00.000Z'
    const to = new Date(Date.parse(from) + seconds * 1000).toISOString()
    expect(span(from, to)).toBe(text)
    expect(ago(from, to)).toBe(`${text} ago`)
  })

  test.each([
    ['4 h ago', '2026-11-20T07:55:00.000Z'],
    ['in 3 d', '2026-11-23T14:00:00.000Z'],
    ['0 s ago', '2026-11-20T12:00:00.000Z'],
  ])('in their largest unit read as %s', (text, at) => {
    expect(relative(at, '2026-11-20T12:00:00.000Z')).toBe(text)
  })
})

describe('figures', () => {
  test.each([
    ['0', 0],
    ['0.5', 0.5],
    ['99.9', 99.9],
    ['578', 577.7],
    ['9,950', 9_950],
    ['10K', 9_999.9],
    ['12.3K', 12_345],
    ['1.25M', 1_250_000],
    ['-12.3K', -12_345],
  ])('read as %s', (text, amount) => {
    expect(compact(amount)).toBe(text)
  })

  test.each([
    ['0 %', 0],
    ['under 1 %', 0.001],
    ['34 %', 0.342],
    ['118 %', 1.18],
  ])('as shares read as %s', (text, share) => {
    expect(percent(share)).toBe(text)
  })
})
