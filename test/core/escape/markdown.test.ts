import fc from 'fast-check'
import type { Nodes, PhrasingContent } from 'mdast'
import { fromMarkdown } from 'mdast-util-from-markdown'
import { gfmFromMarkdown } from 'mdast-util-gfm'
import { gfm } from 'micromark-extension-gfm'
import { describe, expect, test } from 'vitest'
import { code, escaped, fitting, folded, plain, row, tableText } from '../../../src/core/escape/text.ts'
import { runs } from '../../support/fuzz.ts'
import { texts } from './texts.ts'

const JOINER = /\u2060/g

const parse = (markdown: string) => fromMarkdown(markdown, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] })

/** The inline nodes of a document that is one block of the given kind, or of one in it. */
function inside(markdown: string, ...way: readonly Nodes['type'][]): readonly PhrasingContent[] {
  let node: Nodes = parse(markdown)
  for (const type of way) {
    expect(node).toMatchObject({ children: [{ type }] })
    const next: Nodes | undefined = 'children' in node ? node.children[0] : undefined
    if (!next) throw new Error('nothing inside')
    node = next
  }
  return 'children' in node ? (node.children as PhrasingContent[]) : []
}

/** What a reader sees; anything but text and code is markup that should not be there. */
function read(nodes: readonly PhrasingContent[]): string {
  return nodes
    .map((node) => {
      if (node.type === 'text' || node.type === 'inlineCode') return node.value
      if (node.type === 'html' && /^<\/?code>$/.test(node.value)) return ''
      throw new Error(`${node.type} came out: ${JSON.stringify(node)}`)
    })
    .join('')
}

/** What a code host takes for people, issues and addresses in the finished text, outside of code. */
const LINKED: readonly RegExp[] = [/(^|\W)@[a-z\d"]/i, /\w@\w/, /#\d/, /\bgh-\d/i, /\bwww\./i, /:\/\//, /(^|[^\w])[!%~&][\w"]/]

function linksNothing(nodes: readonly PhrasingContent[]): void {
  let isCode = false
  for (const node of nodes) {
    if (node.type === 'html') isCode = node.value === '<code>'
    if (node.type === 'text' && !isCode) for (const pattern of LINKED) expect(node.value).not.toMatch(pattern)
  }
}

const shown = (text: string): string => plain(text).trim()
const seen = (nodes: readonly PhrasingContent[]): string => read(nodes).replace(JOINER, '').trim()

const PLACES: readonly (readonly [before: string, way: readonly Nodes['type'][]])[] = [
  ['', ['paragraph']],
  ['- ', ['list', 'listItem', 'paragraph']],
  ['> ', ['blockquote', 'paragraph']],
  ['### ', ['heading']],
]

describe('text in Markdown', () => {
  test('is only text wherever a line begins', () => {
    fc.assert(
      fc.property(texts, fc.constantFrom(...PLACES), (text, [before, way]) => {
        fc.pre(shown(text) !== '')
        const nodes = inside(before + escaped(text, 1_000), ...way)
        expect(seen(nodes)).toBe(shown(text))
        linksNothing(nodes)
      }),
      runs(200),
    )
  })

  test.each(['17210.75', '100.0 %', '2026-11-01 to 2026-12-01', 'RULE_UNKNOWN', 'A_1_B', '@ home'])(
    'leaves a figure or a code unchanged: %s',
    (text) => {
      expect(escaped(text)).toBe(text)
    },
  )

  test.each([
    ['1.', '1&#46;'],
    ['- x', '&#45; x'],
    ['_a_', '&#95;a&#95;'],
    ['@ada', '@\u2060ada'],
    ['GH-1', 'GH-\u20601'],
    ['www.a.b', 'www\u2060.a.b'],
    ['awww.b', 'awww.b'],
    ['a://b', 'a:\u2060//b'],
    [':+1:', ':\u2060+1:'],
    [':a_b-c+1:', ':\u2060a_b-c+1:'],
    ['%5', '%\u20605'],
    ['#1', '&#35;\u20601'],
    ['!4', '&#33;\u20604'],
    ['# 1', '&#35; 1'],
    ['<b', '&#60;b'],
  ])('of %j is written %s', (text, expected) => expect(escaped(text)).toBe(expected))

  test.each([
    ['sentences', escaped],
    ['code', code],
  ] as const)('stays in its cell of a table, as %s', (_name, write) => {
    fc.assert(
      fc.property(texts, texts, (one, other) => {
        const table = parse(tableText(['A', 'B'], [row([write(one, 1_000), write(other, 1_000)])]))
        expect(table.children).toHaveLength(1)
        const [found] = table.children
        if (found?.type !== 'table') throw new Error('no table came out')
        expect(found.children.map(({ children }) => children.length)).toEqual([2, 2])
        const cells = found.children[1]?.children ?? []
        expect(cells.map(({ children }) => seen(children))).toEqual([shown(one), shown(other)])
        for (const { children } of cells) linksNothing(children)
      }),
      runs(80),
    )
  })

  test('is cut where it is too long', () => {
    expect(escaped('x'.repeat(400))).toBe(`${'x'.repeat(299)}…`)
    expect(code('x'.repeat(20), 5)).toBe('`xxxx…`')
  })

  test('can be copied out of code unchanged', () => {
    expect(code('user:ada@example.com')).toBe('`user:ada@example.com`')
    expect(code(' a b ')).toBe('`a b`')
    expect(code('a`b|c@d')).toBe('<code>a&#96;b&#124;c@\u2060d</code>')
  })
})

test('a folded block has its summary and empty lines around its content', () => {
  expect(folded('3 changes', 'a\nb')).toBe('<details>\n<summary>3 changes</summary>\n\na\nb\n\n</details>')
})

test.each<readonly [number, readonly string[], number]>([
  [3, [], 3],
  [6, ['abc'], 2],
  [7, ['abc', 'de'], 1],
])('in a room of %i signs, line ends included, %j fits', (room, lines, left) => {
  expect(fitting(['abc', 'de', 'f'], room)).toEqual({ lines, left })
})
