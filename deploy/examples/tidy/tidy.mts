// Removes from the policies what the daemon's ledger shows to be over, as one pull request that follows from week to week. It never merges.
//   node tidy.mts        see capkeeper-tidy.yaml
import { execFileSync } from 'node:child_process'
import { dropBranch, isChanged, jobOf, openPullRequest, pushBranch, quoted, say } from '../requests/pull-request.mts'

const BRANCH = 'capkeeper-tidy'
/** Lines of the description; more are counted. */
const MOST_LINES = 100

interface Edit {
  readonly subject: string
  readonly file: string
  readonly because?: string
}

const job = jobOf(process.env)
const policies = process.env['POLICIES'] || 'policies'
const answer = execFileSync('capkeeper', ['edit', 'tidy', '--output=json', `--policies=${policies}`], {
  encoding: 'utf8',
  maxBuffer: 64 * 1024 * 1024,
})
const { edits } = JSON.parse(answer) as { readonly edits: readonly Edit[] }
if (isChanged(job)) {
  const lines = edits.slice(0, MOST_LINES).map(({ subject, file, because = '' }) => `- ${quoted(subject)} in ${quoted(file)}: ${because}`)
  const more = edits.length > MOST_LINES ? [`- and ${edits.length - MOST_LINES} more`] : []
  pushBranch(job, BRANCH, `policies: remove ${edits.length} entries that are over`)
  const body = ['What the ledger shows to be over:', '', ...lines, ...more].join('\n')
  await openPullRequest(job, BRANCH, { title: `Remove ${edits.length} grants and approvals that are over`, body })
  say(`${edits.length} entries are over; the pull request is up to date`)
} else {
  const dropped = await dropBranch(job, BRANCH)
  say(dropped ? 'nothing is over any more; the pull request is closed' : 'nothing is over')
}
