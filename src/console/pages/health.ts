// How the daemon runs one workspace: conditions, cycles, requests, the service model, version and replicas.
import { type Html, html, type Value } from '../../core/escape/text.ts'
import { span } from '../../core/model/units.ts'
import type { Page } from '../../daemon/http/console.ts'
import type { Document } from '../../daemon/http/documents/table.ts'
import { renderFrame } from '../frame.ts'
import { badge, box, facts, holdLink, SEVERITY_WEIGHT, section, tile, tiles, when } from '../parts.ts'
import { column, listing, listSection } from '../tables.ts'
import { number, percent, plural, withoutWays, words } from '../words.ts'

export const healthPage: Page = async (documents, { params: { workspace = '' } }) => {
  const one = await documents.health(workspace)
  return renderFrame({
    of: one,
    section: 'health',
    parts: [troubles(one), figures(one), modelPart(one), evidencePart(one), replicasPart(one)],
  })
}

function troubles({ configValid, ledgerWritable, conditions, conditionsOmitted, at, workspace }: Document<'Health'>): Html | false {
  const parts = [
    !configValid && box.bad`<p><strong>The config file is not valid.</strong> The last good one stays in force.</p>`,
    !ledgerWritable && box.bad`<p><strong>The ledger cannot be written</strong>, so no cap is written.</p>`,
    listSection('Conditions', conditions, {
      extra: conditionsOmitted > 0 && html`<span class="soft">${number(conditionsOmitted)} more</span>`,
      columns: [
        column.fixedRow(
          'Condition',
          ({ type, reason, severity }) => html`${badge(type, SEVERITY_WEIGHT[severity])} <code class="soft">${reason}</code>`,
        ),
        column.name('About', ({ subject }) => about(subject, workspace)),
        column.text('Says', ({ message }) => withoutWays(message, workspace)),
        column.when('Since', at, ({ since }) => since),
      ],
    }),
  ].filter((part) => part !== false)
  return parts.length > 0 && html`${parts}`
}

function about(subject: string, workspace: string): Value {
  const [, id] = /^hold ([0-9a-f]{32})$/.exec(subject) ?? []
  return id === undefined ? subject : holdLink(workspace, id)
}

/** How much of the past of people is known, and how much is left to read. */
function pastTile({ from, days, left, stopped }: NonNullable<Document<'Health'>['history']>): Html {
  const known = days.measured + days.reconstructed
  const all = known + days.partial + days.missing
  const rest = stopped ?? (left > 0 ? `${plural(left, 'request')} left` : 'nothing left to read')
  return tile(
    'Past of people',
    all === 0 ? 'nobody' : percent(known / all),
    `since ${from}; ${rest}`,
    stopped === undefined ? undefined : 'warn',
  )
}

function figures(one: Document<'Health'>): Html {
  const { lastCycle, lastSuccessAt, ratePerSecond, history, unread, oldestReadingAt, requests, version, at } = one
  return tiles([
    tile(
      'Last cycle',
      lastCycle ? lastCycle.result : 'none yet',
      lastCycle &&
        html`${when(lastCycle.finishedAt, at)}, took ${span(Date.parse(lastCycle.finishedAt) - Date.parse(lastCycle.startedAt))}`,
      !lastCycle
        ? 'warn'
        : lastCycle.result === 'error'
          ? 'bad'
          : lastCycle.result === 'success' || lastCycle.result === 'noop'
            ? 'good'
            : 'warn',
    ),
    tile('Last success', lastSuccessAt === undefined ? 'none yet' : when(lastSuccessAt, at)),
    requests.sent > 0 &&
      tile(
        'Failed requests',
        percent(requests.failed / requests.sent),
        html`${number(requests.failed)} of ${number(requests.sent)} since this daemon started${
          requests.last && html`; the last ${when(requests.last.at, at)}: ${requests.last.operation}, ${words(requests.last.outcome)}`
        }`,
        requests.failed > 0 && 'warn',
      ),
    ratePerSecond !== undefined && tile('Pace', `${number(ratePerSecond)}/s`, 'requests, as learned'),
    history && pastTile(history),
    tile(
      'Scopes unread',
      number(unread),
      oldestReadingAt !== undefined && html`oldest reading ${when(oldestReadingAt, at)}`,
      unread > 0 ? 'warn' : 'good',
    ),
    tile('Version', version),
  ])
}

const modelPart = ({ model }: Document<'Health'>): Html =>
  section(
    'How caps work here',
    html`${model.copying !== undefined && box.warn`<p><strong>Copying was seen:</strong> ${model.copying}</p>`}${facts([
      [
        'Team and group caps',
        model.layers === 'layered' ? `kept in layers${model.layersProven ? ', proven' : ', as declared'}` : 'copied to each member',
      ],
      ['A read shows', READS[model.reads]],
      ['A cap of 0', model.zero],
    ])}`,
  )

const READS: Readonly<Record<Document<'Health'>['model']['reads'], string>> = {
  explicit: 'only the explicitly set cap',
  inherited: 'the cap that applies, also an inherited one',
  open: 'not known yet',
}

const evidencePart = ({ seen, at: now }: Document<'Health'>): Html | false =>
  listing('What was seen of it', seen, [
    column.row('Of', ({ aspect }) => aspect),
    column.fixed('Seen', ({ value }) => value),
    column.text(
      'Evidence',
      ({ evidence, before }) =>
        html`${evidence}${before && html`<br><span class="soft">before: ${before.value}, ${before.evidence} ${when(before.at, now)}</span>`}`,
    ),
    column.when('When', now, ({ at }) => at),
  ])

const replicasPart = ({ replicas }: Document<'Health'>): Html | false =>
  listing('Replicas', replicas, [
    column.row('Replica', ({ name }) => name),
    column.fixed('Version', ({ version }) => version),
    column.fixed('Holds this workspace', ({ keeps }) => keeps && badge('yes', 'good')),
  ])
