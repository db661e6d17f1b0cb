// A real Prometheus and a real Alertmanager around a daemon, with the real rules and the sample of routes, and somebody who is told: an HTTP
// server in place of Slack and of a webhook. Only waiting is shortened; everything ends with the test.
import { createServer } from 'node:http'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'
import { parse } from 'yaml'
import { type Running, start, until } from '../support/process.ts'
import { hasProgram, readDeploy, ruleFile } from '../support/rules.ts'
import type { Place } from './world.ts'

export const hasMonitoring = hasProgram('prometheus') && hasProgram('prometheus-alertmanager')

/** An alert as Alertmanager hands it to a webhook. */
export interface ToldAlert {
  readonly status: 'firing' | 'resolved'
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
}

export interface Monitoring {
  /** Everything a webhook was told, in order, with the receiver it was sent to. */
  readonly told: readonly (ToldAlert & { readonly receiver: string })[]
  /** Texts that went to Slack, as its templates wrote them. */
  readonly slack: readonly { readonly channel: string; readonly title: string; readonly text: string }[]
  /** Waits for the next thing told of an alert in this status. */
  hears(alertname: string, status: ToldAlert['status']): Promise<ToldAlert & { readonly receiver: string }>
}

/** Starts both on free ports, and waits until Prometheus has scraped the daemon. */
export async function startMonitoring(at: Place, daemonUrl: string): Promise<Monitoring> {
  const ear = await listen()
  const alertmanager = await startAlertmanager(at, ear.url)
  await startPrometheus(at, daemonUrl, alertmanager)
  const hears: Monitoring['hears'] = (alertname, status) =>
    until(`${alertname} ${status}`, () => ear.told.findLast((one) => one.labels['alertname'] === alertname && one.status === status))
  return { told: ear.told, slack: ear.slack, hears }
}

/** Waits are seconds in place of minutes: `for` 1 s, and rules looked at every half second. Expressions stay as they are. */
export const quickRules = (): string =>
  JSON.stringify({
    groups: ruleFile().groups.map(({ name, rules }) => ({
      name,
      rules: rules.map((rule) => ('for' in rule ? { ...rule, for: '1s' } : rule)),
    })),
  })

interface SampleRoute {
  readonly routes?: readonly SampleRoute[]
}

interface Sample {
  readonly route: SampleRoute
  readonly receivers: readonly { readonly name: string; readonly slack_configs?: readonly object[] }[]
}

/** The sample with this machine's ear for Slack's, nobody to send mail to, a webhook beside each receiver, and no waiting. */
function quickRoutes(earUrl: string): string {
  const sample: Sample = parse(readDeploy('alertmanager/alertmanager.yaml'))
  const hurried = (route: SampleRoute): object => ({
    ...route,
    group_wait: '0s',
    group_interval: '1s',
    repeat_interval: '1h',
    ...(route.routes && { routes: route.routes.map(hurried) }),
  })
  return JSON.stringify({
    ...sample,
    global: { slack_api_url: `${earUrl}/slack` },
    route: hurried(sample.route),
    receivers: sample.receivers.map(({ name, slack_configs }) => ({
      name,
      ...(slack_configs && { slack_configs }),
      webhook_configs: [{ url: `${earUrl}/webhook`, send_resolved: true }],
    })),
  })
}

async function startAlertmanager(at: Place, earUrl: string): Promise<string> {
  at.write('alerting/capkeeper.tmpl', readDeploy('alertmanager/capkeeper.tmpl'))
  const config = at.write('alerting/alertmanager.yaml', quickRoutes(earUrl))
  const address = await freeAddress()
  const running = start(
    [
      `--config.file=${config}`,
      `--storage.path=${at.path('alertmanager')}`,
      `--web.listen-address=${address}`,
      '--cluster.listen-address=',
    ],
    { command: ['prometheus-alertmanager'], cwd: at.folder },
  )
  await ready(running, `http://${address}/-/ready`)
  return address
}

async function startPrometheus(at: Place, daemonUrl: string, alertmanager: string): Promise<void> {
  const rules = at.write('prometheus/rules.yaml', quickRules())
  const every = { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '500ms' }
  const config = at.write(
    'prometheus/prometheus.yaml',
    JSON.stringify({
      global: every,
      rule_files: [rules],
      alerting: { alertmanagers: [{ static_configs: [{ targets: [alertmanager] }] }] },
      scrape_configs: [{ job_name: 'capkeeper', static_configs: [{ targets: [new URL(daemonUrl).host] }] }],
    }),
  )
  const address = await freeAddress()
  const running = start([`--config.file=${config}`, `--storage.tsdb.path=${at.path('tsdb')}`, `--web.listen-address=${address}`], {
    command: ['prometheus'],
    cwd: at.folder,
  })
  await ready(running, `http://${address}/-/ready`)
  await until('the first scrape', async () => {
    const answer = await fetch(`http://${address}/api/v1/query?query=capkeeper_build_info`)
    return (await answer.text()).includes('"version"')
  })
}

/** A program that ends while it is waited for says why. */
async function ready(running: Running, url: string): Promise<void> {
  const failed = running.ended.then(({ code }) => {
    throw new Error(`ended with ${code}: ${running.stderr().slice(-2_000)}`)
  })
  failed.catch(() => undefined)
  await Promise.race([failed, until(url, async () => (await fetch(url)).ok)])
}

/** Free a moment ago; neither program says which port it took when it is given 0. */
async function freeAddress(): Promise<string> {
  const server = createTcpServer()
  const { promise, resolve } = Promise.withResolvers<void>()
  server.listen(0, '127.0.0.1', resolve)
  await promise
  const address = `127.0.0.1:${portOf(server.address())}`
  await new Promise((done) => server.close(done))
  return address
}

const portOf = (address: string | AddressInfo | null): number => (address !== null && typeof address === 'object' ? address.port : 0)

/** Takes what Alertmanager sends; it is closed with the test. */
async function listen() {
  const told: (ToldAlert & { receiver: string })[] = []
  const slack: { channel: string; title: string; text: string }[] = []
  const server = createServer(async (request, response) => {
    const body = JSON.parse(await text(request))
    if (request.url === '/webhook') {
      const alerts: readonly ToldAlert[] = body.alerts
      told.push(...alerts.map((alert) => ({ ...alert, receiver: String(body.receiver) })))
    } else {
      for (const { title, text } of body.attachments)
        slack.push({ channel: String(body.channel), title: String(title), text: String(text) })
    }
    response.end('ok')
  })
  const { promise, resolve } = Promise.withResolvers<void>()
  server.listen(0, '127.0.0.1', resolve)
  await promise
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${portOf(server.address())}`, told, slack }
}
