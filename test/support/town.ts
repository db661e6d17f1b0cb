// A daemon that tells people, for tests: its loop on a clock that the test moves, a real ledger, a real mail server and a real webhook on loopback.
import { onTestFinished } from 'vitest'
import { createPoster } from '../../src/api/transport/http.ts'
import type { NotifySettings } from '../../src/core/notify/settings.ts'
import { EMAIL_LABELS } from '../../src/daemon/http/labels.ts'
import { createMailer, openChannels } from '../../src/daemon/notify/channels.ts'
import { createWorkspace } from '../../src/daemon/workspace.ts'
import { DIRECT_FILES } from '../../src/files.ts'
import { listen } from '../api/world.ts'
import { live } from './living.ts'
import { NOTIFY } from './notify.ts'
import { realClock } from './real-clock.ts'
import { type MailServer, mailServer } from './smtp.ts'
import { noon, recordPast } from './use.ts'
import { createWorld, type WorldOptions } from './world.ts'

export const SECRET_PATH = '/services/T000/very-secret-path'
export const POLICY = { caps: { team: 1000, 'group:grp_r': 1000 } }

export type Town = Awaited<ReturnType<typeof town>>

interface TownOptions extends WorldOptions {
  readonly settings?: Partial<NotifySettings>
  readonly faults?: MailServer['faults']
  readonly label?: (email: string) => string
}

/** Credits used, of which 500 are included in a seat. */
export const uses = (used: Readonly<Record<string, number>>) =>
  Object.entries(used).map(([who, credits]) => ({ who, at: noon(10), credits: credits + 500 }))

export async function town(used: Readonly<Record<string, number>>, options: TownOptions = {}) {
  const { settings, faults, label = (email) => email, ...world } = options
  const one = await createWorld({ groups: { grp_r: ['ada', 'bob'] }, ...world })
  recordPast(one, uses(used))
  const mail = await mailServer()
  if (faults) mail.faults = faults
  const hook: Awaited<ReturnType<typeof listen>> & { status: number } = Object.assign(
    await listen((_request, response) => response.writeHead(hook.status).end('{}')),
    { status: 200 },
  )
  const secrets: string[] = []
  const config = {
    settings: { ...NOTIFY, ...settings },
    mail: { host: '127.0.0.1', port: mail.port, tls: 'none', from: 'caps@example.com', user: 'caps', password: { env: 'PASSWORD' } },
    webhooks: [{ name: 'chat', url: { env: 'HOOK' }, format: 'json' }],
  } as const
  const channels = openChannels({
    config,
    mailer: createMailer(config.mail, realClock()),
    poster: createPoster({ userAgent: 'capkeeper/test', proxyEnv: {} }),
    env: { PASSWORD: 'pass word', HOOK: `${hook.url}${SECRET_PATH}` },
    onSecret: (secret) => void secrets.push(secret),
    files: DIRECT_FILES,
  })
  let underWay = 0
  one.clock.busy = () => underWay > 0
  const send: typeof channels.send = async (...message) => {
    underWay += 1
    return channels.send(...message).finally(() => {
      underWay -= 1
    })
  }
  one.workspace = createWorkspace({ ...one.workspace, notifier: { ...channels, ...EMAIL_LABELS, settings: config.settings, label, send } })
  const life = live(one)
  onTestFinished(async () => {
    await life.stop()
    channels.close()
    hook.server.close()
    await one.close()
  })
  life.set(POLICY)
  /** From the next life on the configuration asks for no messages. */
  const silence = (): void => {
    one.workspace = createWorkspace({ ...one.workspace, notifier: undefined }, one.workspace)
  }
  return { one, mail, hook, life, secrets, silence }
}
