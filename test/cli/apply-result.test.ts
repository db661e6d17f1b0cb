// What apply tells once it is through, of runs in which more happened than was planned at first.
import { expect, onTestFinished, test } from 'vitest'
import { configText, FAST, place, policyText } from '../e2e/world.ts'
import { begin } from '../support/inside.ts'
import { realClock } from '../support/real-clock.ts'
import { type SandboxFixture, startSandbox } from '../support/sandbox.ts'

/** `apply`, twice; of the second the service calls `onCall` with each request. */
async function applies(
  before: string,
  after: string,
  onCall: (service: SandboxFixture, happens: { jump(ms: number): void; interrupt(): void }) => void,
) {
  const real = realClock()
  let [aheadMs, isSecond] = [0, false]
  const interrupts: (() => void)[] = []
  const [shown, atInterrupt]: [string[], string[]] = [[], []]
  const clock = { ...real, now: () => real.now() + aheadMs }
  const happens = {
    jump(ms: number) {
      aheadMs = ms
    },
    interrupt() {
      interrupts.at(-1)?.()
      atInterrupt.push(...shown.splice(0))
    },
  }
  const sleep = async (): Promise<void> => {
    if (isSecond) onCall(service, happens)
  }
  const service = await startSandbox({ clock: { ...clock, sleep }, latency: 1, people: 4, groups: 1, capSemantics: 'layered' })
  onTestFinished(() => service.close())
  const at = place()
  at.write('key', 'sandbox-admin\n')
  const keys = { default: { file: at.path('key') } }
  const settings = { name: 'acme', baseUrl: service.url, keys, policies: [at.path('acme.yaml')], rate: { ...FAST, concurrency: 1 } }
  const config = at.write('config.yaml', configText([settings]))
  const run = async (policy: string) => {
    at.write('acme.yaml', policyText(policy))
    const on = (kind: string, handler: () => void) => {
      if (kind === 'interrupt') interrupts.push(handler)
      return () => undefined
    }
    const { stderr, ended } = begin(['apply', '--yes', '--config', config], {}, { on, exit: () => undefined }, clock)
    Object.assign(stderr, { isTTY: true, columns: 80 })
    stderr.on('data', (piece) => shown.push(String(piece)))
    return ended
  }
  await run(before)
  service.calls.clear()
  isSecond = true
  shown.length = 0
  const ran = await run(after)
  return { service, ran, untilInterrupt: atInterrupt.join(''), afterIt: shown.join('') }
}

const writesOf = ({ calls }: SandboxFixture) => calls.log.filter(({ operation }) => operation === 'UsageConfig')

test('a cap that was written twice, because its grant ended on the way, is shown as two changes', async () => {
  const until = new Date(realClock().now() + 3_600_000).toISOString()
  const caps = 'team: {cap: 100}\nusers: [{email: ada.lovelace@example.com, cap: 250}]\n'
  const grants = `grants:\n- {team: true, add: 50, until: "${until}", reason: r}\n- {user: ada.lovelace@example.com, add: 50, until: "${until}", reason: r}`
  const { ran, service } = await applies(caps, caps + grants, (service, { jump }) => {
    if (writesOf(service).length === 1) jump(7_200_000)
  })
  expect(writesOf(service).map(({ body }) => body['set_add_on_credit_cap'])).toEqual([300, 150, 100, 250])
  expect(ran).toMatchObject({ code: 0, stdout: expect.stringMatching(/Plan: 2 to raise\.\n\nApplied: 2 raised, 2 lowered\.\n$/) })
})

test('a write that succeeded before the run was interrupted is shown as done, and the others as not tried; the bar is gone at once', async () => {
  const asked = 'team: {cap: 600}\nusers: [{email: ada.lovelace@example.com, cap: 700}]'
  const { ran, service, untilInterrupt, afterIt } = await applies('team: {cap: 500}', asked, (it, { interrupt }) => {
    if (writesOf(it).length === 1) interrupt()
  })
  expect(service.capOf('team')).toBe(500)
  expect(ran).toMatchObject({ code: 4, stderr: expect.stringContaining('stopped on the way') })
  expect([untilInterrupt.endsWith('\u001b[2K'), untilInterrupt.split('writing caps').length > 1]).toEqual([true, true])
  expect(afterIt).not.toContain('writing caps')
  const shown = ran.stdout.split('Plan: 1 to set, 1 to raise.\n\n')[1]?.replace(/^(.*acme.yaml| +)/gm, '')
  const raise = '~ raise  team                       500 → 600  3 people  policy'
  expect(shown?.split('\n')).toEqual([raise, ':5:15', 'not tried', '', 'Applied: 1 set, 1 not tried.', ''])
})

test('a cap that was written, and could not be read again at the end, is told as unknown: that is why the run ends with 4', async () => {
  const asked = 'team: {cap: 600}\nusers: [{email: ada.lovelace@example.com, cap: 700}]'
  const { ran } = await applies('team: {cap: 500}', asked, ({ calls, sandbox }) => {
    const { exchange } = sandbox
    const down = { kind: 'answer', delayMs: 0, answer: { status: 500, contentType: 'text/plain', body: 'down' } }
    if (calls.log.at(-1)?.body['set_add_on_credit_cap'] !== 600) return
    Object.assign(sandbox, {
      exchange: (...sent: Parameters<typeof exchange>) => (sent[1].includes('user_email') ? down : exchange(...sent)),
    })
  })
  expect(ran).toMatchObject({ code: 4, stdout: expect.stringMatching(/\n\nApplied: 1 set, 1 raised\. 1 unknown\.\n$/) })
})
