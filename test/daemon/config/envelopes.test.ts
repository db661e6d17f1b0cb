import { describe, expect, test } from 'vitest'
import { parseConfigText } from '../../../src/daemon/config/file.ts'

const config = (envelopes: string): string =>
  `apiVersion: capkeeper/v1\nkind: Config\nenvelopes: ${envelopes}\nworkspaces: [{name: acme, policies: [p]}, {name: beta, policies: [q]}]\n`
const ONE = '{name: a, workspace: acme, policies: [p/a], groups: [grp_a], maxCap: 3000}'

describe('envelopes of the config', () => {
  test.each<readonly [string, string, readonly string[]]>([
    ['is whole', ONE, []],
    ['is of no workspace', ONE.replace('acme', 'acne'), ['ENVELOPE']],
    ['has no folder', ONE.replace('[p/a]', '[]'), ['ENVELOPE']],
    ['has no group', ONE.replace('[grp_a]', '[]'), ['ENVELOPE']],
    ['has the folder of another', `${ONE}, ${ONE.replace('name: a', 'name: b').replace('p/a', './p/a/')}`, ['ENVELOPE']],
    ['has the name of another', `${ONE}, ${ONE.replace('p/a', 'p/b')}`, ['DUPLICATE_NAME']],
    ['has no maxCap', ONE.replace(', maxCap: 3000', ''), ['MISSING']],
    ['has half of the bounds on grants', ONE.replace('}', ', grants: {maxDays: 3}}'), ['MISSING']],
    ['has a key that is none', ONE.replace('}', ', maxcap: 3}'), ['UNKNOWN_KEY']],
  ])('one that %s', (_what, text, codes) => {
    expect(parseConfigText('capkeeper.yaml', config(`[${text}]`)).problems.map(({ code }) => code)).toEqual(codes)
  })

  test('belong to their workspace, with their place', () => {
    const { config: parsed } = parseConfigText('capkeeper.yaml', config(`[${ONE}]`), '/etc/capkeeper.yaml')
    const [acme, beta] = parsed?.workspaces ?? []
    expect(acme?.envelopes).toMatchObject([
      { name: 'a', workspace: 'acme', policies: ['/etc/p/a'], groups: ['grp_a'], maxCap: 3000, at: { file: 'capkeeper.yaml', line: 3 } },
    ])
    expect(beta).not.toHaveProperty('envelopes')
  })
})
