// G17: a grouped Analytics query over a million rows beside the same SQL by hand on node:sqlite, and how long the sandbox takes to start
// with months of use behind it.
import { memoryUsage } from 'node:process'
import { DatabaseSync } from 'node:sqlite'
import { createSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { fakeClock } from '../support/clock.ts'
import { HOUR, NOW } from '../support/declare.ts'
import { beside, mib, publish, ROUNDS, seconds, told, took, turns, within } from './bench.ts'

const ROWS = 1_000_000
const PEOPLE = 500
const FIRST = NOW - (ROWS / PEOPLE) * HOUR
const LANGUAGES = ['GO', 'PYTHON', 'RUST', 'TYPESCRIPT', 'JAVA', 'KOTLIN', 'SQL', 'YAML'] as const
const START_LIMIT_MS = 1500

const clock = fakeClock(NOW)

interface UsedRow {
  readonly person: number
  readonly at: number
  readonly language: string
  readonly acceptances: number
}

function* rows(): Generator<UsedRow> {
  for (let index = 0; index < ROWS; index += 1) {
    const language = LANGUAGES[(index * 7) % LANGUAGES.length] ?? LANGUAGES[0]
    yield { person: index % PEOPLE, at: FIRST + Math.floor(index / PEOPLE) * HOUR, language, acceptances: (index * 31) % 41 }
  }
}

const REST = { ide: 'editor', version: '1.126.0' } as const

function ours(): Sandbox {
  const sandbox = createSandbox({ clock, company: { people: PEOPLE, days: 0 }, working: false })
  sandbox.store.transaction(() => {
    for (const row of rows()) {
      sandbox.store.addUse({
        source: 'autocomplete',
        ...row,
        ...REST,
        linesAccepted: row.acceptances * 2,
        bytesAccepted: row.acceptances * 60,
      })
    }
  })
  return sandbox
}

/** The same table and index, made and asked by hand. */
function byHand(): DatabaseSync {
  const database = new DatabaseSync(':memory:')
  database.exec(`CREATE TABLE used (person INTEGER NOT NULL, at INTEGER NOT NULL, language TEXT NOT NULL, ide TEXT NOT NULL, version TEXT NOT NULL,
    acceptances INTEGER NOT NULL, linesAccepted INTEGER NOT NULL, bytesAccepted INTEGER NOT NULL);
    CREATE INDEX used_by_person ON used (person, at, acceptances); BEGIN`)
  const insert = database.prepare('INSERT INTO used VALUES (?, ?, ?, ?, ?, ?, ?, ?)')
  for (const { person, at, language, acceptances } of rows()) {
    insert.run(person, at, language, REST.ide, REST.version, acceptances, acceptances * 2, acceptances * 60)
  }
  database.exec('COMMIT')
  return database
}

const fn = (field: string, name: string) => ({ field, aggregation_function: `QUERY_AGGREGATION_${name}`, name: `${name} ${field}` })
const GROUPED = 'FROM used WHERE at <= ? GROUP BY 1, 2 ORDER BY 1, 2'

/** A question in the service's words and in SQL. */
const QUESTIONS = [
  {
    figure: 'sums by date and language',
    query: {
      selections: [fn('num_acceptances', 'SUM'), fn('num_bytes_accepted', 'SUM'), fn('api_key', 'COUNT')],
      by: ['date', 'language'],
    },
    sql: `SELECT at / 86400000, language, SUM(acceptances), SUM(bytesAccepted), COUNT(*) ${GROUPED}`,
  },
  {
    figure: 'distinct users by date in UTC-8 and IDE',
    query: { selections: [fn('distinct_users', 'COUNT'), fn('num_acceptances', 'AVG')], by: ['date UTC-8', 'ide'] },
    sql: `SELECT (at - 28800000) / 86400000, ide, COUNT(DISTINCT person), AVG(acceptances) ${GROUPED}`,
  },
] as const

async function compare(sandbox: Sandbox, database: DatabaseSync, { figure, query, sql }: (typeof QUESTIONS)[number]) {
  const body = {
    service_key: 'sandbox-analytics',
    query_requests: [
      {
        data_source: 'QUERY_DATA_SOURCE_USER_DATA',
        selections: query.selections,
        aggregations: query.by.map((field) => ({ field, name: field })),
      },
    ],
  }
  const statement = database.prepare(sql)
  const answer = JSON.parse(sandbox.handle('Analytics', body).body)
  const [items, found] = [answer.queryResults[0].responseItems.length, statement.all(NOW).length]
  if (items !== found || items < 50) throw new Error(`${figure}: ${items} items beside ${found} rows`)
  const { ours, bare } = await turns({
    ours: () => took(() => sandbox.handle('Analytics', body)),
    bare: () => took(() => statement.all(NOW)),
  })
  return beside('G17', `Analytics, ${figure}, beside the same SQL`, [ours, bare], 1.2)
}

/** A company with 90 days of use. */
const startUp = (people: number): Sandbox => createSandbox({ clock, company: { people, days: 90 } })

const before = memoryUsage.rss()
let large: Sandbox | undefined
const largeMs = await took(() => {
  large = startUp(5000)
})
const kib = (memoryUsage.rss() - before) / 1024
large?.close()
const { small } = await turns({ small: () => took(() => startUp(200).close()) }, { warmUps: 0 })
const [sandbox, database] = [ours(), byHand()]
publish(`Analytics over ${ROWS} rows, and start-up with 90 days of use; medians of ${ROUNDS}`, [
  await compare(sandbox, database, QUESTIONS[0]),
  await compare(sandbox, database, QUESTIONS[1]),
  within('G17', 'start-up, 200 people x 90 days', small, START_LIMIT_MS),
  told('G17', 'start-up, 5,000 people x 90 days, once', `${seconds(largeMs)}, ${mib(kib)}`),
])
