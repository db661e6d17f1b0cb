import { describe, expect, test } from 'vitest'
import { importsOf } from './imports.ts'
import { tokensOf } from './tokens.ts'

/** One import in a line: how, from where, type-only or not, and the names with a ' for those marked `type`. */
const told = (source: string): readonly string[] =>
  importsOf(source).map(({ how, specifier, typeOnly, names }) => {
    const list = names.map((one) => (one.typeOnly ? `${one.name}'` : one.name)).join(' ')
    return [how, specifier ?? '?', typeOnly ? 'types' : 'values', list].filter((part) => part !== '').join(' ')
  })

describe('an import is found', () => {
  const rows: readonly (readonly [row: string, source: string, found: readonly string[]])[] = [
    ['with names', "import { a, b as c } from './x.ts'", ['import ./x.ts values a b']],
    ['with a default name', 'import got from "got"', ['import got values default']],
    [
      'with a default name and others',
      "import fastify, { type Reply, send } from 'fastify'",
      ["import fastify values default Reply' send"],
    ],
    ['as a whole', "import * as fs from 'node:fs'", ['import node:fs values *']],
    ['for its effect alone', "import './polyfill.ts'", ['import ./polyfill.ts values']],
    ['over several lines', "import {\n  a,\n  // b,\n  c,\n} from './x.ts'", ['import ./x.ts values a c']],
    ['for types', "import type { A, B } from './x.ts'", ['import ./x.ts types A B']],
    ['for a default type', "import type A from './x.ts'", ['import ./x.ts types default']],
    ['for a type called from', "import type from from './x.ts'", ['import ./x.ts types default']],
    ['with a value called type', "import type from './x.ts'", ['import ./x.ts values default']],
    ['with a value called type and others', "import type, { a } from './x.ts'", ['import ./x.ts values default a']],
    ['with names marked type, which loads the file', "import { type A, type B as C } from './x.ts'", ["import ./x.ts values A' B'"]],
    [
      'with a value called type in braces',
      "import { type, type as t, type as as s } from './x.ts'",
      ["import ./x.ts values type type as'"],
    ],
    ['with a name called from', "import { from, a as from } from './x.ts'", ['import ./x.ts values from a']],
    ['with attributes', "import data from './x.json' with { type: 'json' }", ['import ./x.json values default']],
    ['re-exporting names', "export { a, type B } from './x.ts'", ["export ./x.ts values a B'"]],
    ['re-exporting types', "export type { A } from './x.ts'", ['export ./x.ts types A']],
    [
      're-exporting everything',
      "export * from './x.ts'\nexport * as y from './y.ts'",
      ['export ./x.ts values *', 'export ./y.ts values *'],
    ],
    ['re-exporting all types', "export type * from './x.ts'", ['export ./x.ts types *']],
    ['when it is dynamic', "const { a } = await import('./x.ts')", ['dynamic ./x.ts values']],
    ['when it is dynamic with options', "import('./x.json', { with: { type: 'json' } })", ['dynamic ./x.json values']],
    ['when it is dynamic over lines', "await import(\n  /* why */\n  './x.ts',\n)", ['dynamic ./x.ts values']],
    ['when it is worked out at run time', "import('./' + name)\nimport(path)\nimport(`./x.ts`)", Array(3).fill('dynamic ? values')],
    ['as the type of a module', "type X = typeof import('./x.ts')", ['dynamic ./x.ts types']],
    ['by require', "const x = require('yaml')", ['dynamic yaml values']],
    ["by the process's own door", "process.getBuiltinModule('node:fs')", ['dynamic node:fs values']],
    ['inside the hole of a template', `const t = \`a \${await import('./x.ts')} b\``, ['dynamic ./x.ts values']],
    ['after a regular expression that holds a quote', "const r = /['\"`]/u\nimport { a } from './x.ts'", ['import ./x.ts values a']],
    ['after a division', "const half = (a + b) / 2 // '\nimport { a } from './x.ts' /* / */", ['import ./x.ts values a']],
    ['after a template with a quote', `const t = \`it's \\\` \${f({ a: '}' })} \\\${\`\nimport './x.ts'`, ['import ./x.ts values']],
    ['next to another on one line', "import './a.ts'; import './b.ts'", ['import ./a.ts values', 'import ./b.ts values']],
    ['beside exports of its own', "export { a }\nexport type { B }\nexport const c = 1\nimport './x.ts'", ['import ./x.ts values']],
  ]
  test.each(rows)('%s', (_row, source, found) => {
    expect(told(source)).toEqual(found)
  })
})

describe('no import is found', () => {
  const rows: readonly (readonly [row: string, source: string])[] = [
    ['in a line comment', "// import { a } from './x.ts'"],
    ['in a block comment', "/*\nimport './x.ts'\n*/"],
    ['in a text', `const s = "import './x.ts'"`],
    ['in a template', "const s = `import './x.ts'`"],
    ['in a regular expression', "const r = /import '.'/"],
    ['in import.meta', "const at = import.meta.url + 'x'"],
    ['in a member called import', "x.import('./x.ts')\nconst y = { import: './x.ts' }\nx.require('./x.ts')"],
    [
      'in exports of its own',
      "export { a, b as c }\nconst from = 'x'\nexport type { D }\nexport type E = 'x'\nexport interface F { a: 1 }",
    ],
  ]
  test.each(rows)('%s', (_row, source) => {
    expect(told(source)).toEqual([])
  })
})

describe('tokens', () => {
  test('tell the line they begin on', () => {
    const tokens = tokensOf(`a /* 1\n2 */ b\n\`x\n\${c}\n\` d`)
    expect(tokens.filter((token) => token.kind === 'word').map((token) => `${token.text}${token.line}`)).toEqual(['a1', 'b2', 'c4', 'd5'])
  })

  test('put together again are the source without its spaces', () => {
    const source = `const a = \`1\${b ? \`2\${'3'}\` : /[/'}]+/g}4\`; // 5\nif (a) { x(y / 2, 'z\\'') } #p 1_000.5e3`
    const joined = tokensOf(source).map((token) => token.text)
    expect(joined.join('').replace(/\s/g, '')).toBe(source.replace(/\s/g, ''))
  })

  test.each([
    ['a text', "const a = 'b\n"],
    ['a template', `const a = \`b \${c`],
    ['a bracket', 'f(a, [b)'],
    ['a block', 'function f() {'],
    ['a regular expression', 'const a = /b\nc'],
  ])('%s without an end is refused', (_row, source) => {
    expect(() => tokensOf(source)).toThrow()
  })
})
