import fc from 'fast-check'
import { type DefaultTreeAdapterMap, parseFragment } from 'parse5'
import { describe, expect, test } from 'vitest'
import { html, printable } from '../../../src/core/escape/text.ts'
import { runs } from '../../support/fuzz.ts'
import { texts } from './texts.ts'

type Value = Parameters<typeof html>[1]
type Element = DefaultTreeAdapterMap['element']

const isElement = (node: DefaultTreeAdapterMap['node'] | undefined): node is Element => node !== undefined && 'attrs' in node

describe('HTML', () => {
  test('keeps text in its element and in its attribute', () => {
    fc.assert(
      fc.property(texts, (text) => {
        const [element, ...others] = parseFragment(html`<p title="${text}" class="a">${text}</p>`.markup).childNodes
        if (!isElement(element)) throw new Error('no element came out')
        expect(others).toEqual([])
        expect(element.attrs).toEqual([
          { name: 'title', value: printable(text) },
          { name: 'class', value: 'a' },
        ])
        expect(element.childNodes.map((node) => ('value' in node ? node.value : node.nodeName)).join('')).toBe(printable(text))
        expect(element.childNodes.length).toBeLessThanOrEqual(1)
      }),
      runs(300),
    )
  })

  test.each<readonly [string, Value, string]>([
    ['false as nothing', false, ''],
    ['a number as it is', 0, '0'],
    ['text without its meaning', `<&">'`, '&lt;&amp;&quot;&gt;&#39;'],
    ['its own markup as it is', html`<b>${'<'}</b>`, '<b>&lt;</b>'],
    ['several values in order', [html`<i>`, '&', 5, undefined, [html`</i>`]], '<i>&amp;5</i>'],
  ])('takes %s', (_name, value, expected) => expect(html`(${value})`.markup).toBe(`(${expected})`))
})
