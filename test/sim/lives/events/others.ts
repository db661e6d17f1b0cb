// Another client writes caps.
import { scopeKey } from '../../../../src/core/model/scope.ts'
import { between } from '../../../../src/sandbox/company/company.ts'
import { drawCap } from '../policy-edits.ts'
import { type Acts, foreign, redraw, someScope, whenWriting } from './tools.ts'

export const OTHERS = {
  'foreign-write': (life, draw) => {
    const scope = someScope(life, draw)
    foreign(life, scope, draw() < 0.3 ? 'none' : drawCap(draw))
    life.emit({ kind: 'foreign', scopes: [scope] })
  },
  'foreign-mass': (life, draw) => {
    const cap = draw() < 0.3 ? ('none' as const) : drawCap(draw)
    const scopes = [
      scopeKey({ kind: 'team' }),
      ...[...life.company.groups.keys()].map((id) => scopeKey({ kind: 'group', id })),
      ...[...life.company.people.keys()].map((email) => scopeKey({ kind: 'user', email })),
    ].filter(() => draw() < 0.7)
    for (const scope of scopes) foreign(life, scope, cap)
    life.emit({ kind: 'foreign', scopes })
  },
  // Another client writes while a plan of many changes is carried out.
  race: (life, draw) => {
    redraw(life, draw)
    whenWriting(life, () => {
      const scopes = Array.from({ length: between(draw, 1, 6) }, () => someScope(life, draw))
      for (const scope of scopes) foreign(life, scope, drawCap(draw))
      life.emit({ kind: 'foreign', scopes })
    })
  },
} satisfies Partial<Acts>
