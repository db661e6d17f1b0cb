// The policies in force: problems of the files, and every declared cap with its line and the people it applies to.
import { type Html, html } from '../../core/escape/text.ts'
import { ENTRY_KINDS, whileInvalid } from '../../core/model/policy.ts'
import type { Page } from '../../daemon/http/console.ts'
import type { Document, PolicyRow } from '../../daemon/http/documents/table.ts'
import { renderFrame } from '../frame.ts'
import { badge, box, capCell, empty, facts, figure, problemList, scopeLink, section, sourceLink, stateBadge, when } from '../parts.ts'
import { column, filterForm, moreOf, pager, table } from '../tables.ts'
import { number, plural, url, withQuery } from '../words.ts'

export const policiesPage: Page = async (documents, { params: { workspace = '' }, query }) => {
  const list = await documents.policies(workspace, query)
  const path = url.section(workspace, 'policies')
  const { policy, problems, problemsOmitted, at } = list
  return renderFrame({
    badges: policy && badge(policy.valid ? 'valid' : 'not valid', policy.valid ? 'good' : 'bad'),
    of: list,
    section: 'policies',
    parts: [
      policy &&
        !policy.valid &&
        box.bad`<p><strong>The files are not valid</strong>: ${whileInvalid(policy.digest)}, and nothing is pruned until they are valid again. <code>capkeeper validate</code> shows the same problems.</p>`,
      problems.length > 0 && html`<h2 class="hidden">What is wrong in the files</h2>${problemList(problems, problemsOmitted)}`,
      html`<section>${facts([
        ['Digest', policy && html`<code>${policy.digest === '' ? 'none yet' : policy.digest}</code>`],
        ['Revision', policy && policy.revision !== '' && html`<code>${policy.revision.slice(0, 12)}</code>`],
        ['Loaded', policy && when(policy.loadedAt, at)],
        ['Documents', list.documents.join(', ')],
        ['Declared', plural(list.total, 'cap')],
      ])}</section>`,
      filterForm(path, query, [
        { name: 'search', label: 'Name, id or person' },
        { name: 'kind', label: 'Kind', options: ENTRY_KINDS },
      ]),
      html`<section>${list.total === 0 ? empty(Object.keys(query).length === 0 ? 'No cap is declared: without a policy nothing is written.' : 'Nothing fits.') : html`${declared(list)}${pager(list, ['declared cap', 'declared caps'], path, query)}`}</section>`,
      protectedPart(list),
    ],
  })
}

const declared = ({ items, workspace, at }: Document<'PolicyList'>): Html =>
  table<PolicyRow>('Every declared cap', items, [
    column.row('Declared', (row) => html`${badge(row.kind)} ${nameOf(row, workspace)}`),
    column.number('Cap', valueCell),
    column.number('Observed', ({ observed }) => observed !== undefined && capCell(observed)),
    column.fixed(
      'State',
      ({ state, from }) =>
        state && html`${stateBadge(state)}${state === 'pending' && html`<br><span class="soft">starts ${when(from, at)}</span>`}`,
    ),
    column.number(
      'Decides for',
      ({ people, members }) =>
        html`${figure(people)}${members !== undefined && members !== people && html` <span class="soft">of ${figure(members)}</span>`}`,
    ),
    column.count('Near cap', ({ near }) => near),
    column.when('Ends', at, ({ until }) => until),
    column.text('Why', ({ reason, ticket }) => html`${reason}${ticket !== undefined && html` <span class="soft">${ticket}</span>`}`),
    column.declaredAt,
  ])

/** A pool has credits for all members together instead of a cap. */
function valueCell({ cap, add, credits }: PolicyRow): ReturnType<typeof capCell> | Html | string {
  if (credits !== undefined) return html`${figure(credits)} <span class="soft">together</span>`
  return add !== undefined ? `+${number(add)}` : capCell(cap)
}

const nameOf = ({ kind, name }: PolicyRow, workspace: string): Html =>
  kind === 'rule' || kind === 'pool'
    ? html`<a href="${withQuery(url.section(workspace, 'people'), { rule: `${kind} ${name}` })}">${name}</a>`
    : scopeLink(workspace, name)

const protectedPart = ({ protected: people, protectedOmitted, workspace }: Document<'PolicyList'>): Html | false =>
  people.length > 0 &&
  section(
    'Protected people',
    html`<p class="small soft">Their caps are never lowered, blocked or cleared without an approval.</p><ul>${people.map(
      ({ person, source }) => html`<li>${scopeLink(workspace, person)} ${sourceLink(source)}</li>`,
    )}</ul>${moreOf(protectedOmitted, 'person', 'people')}`,
  )
