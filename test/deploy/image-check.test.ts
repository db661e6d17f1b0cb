// How image-check tells its own program's answer from another's: the port is one that the system chose, read from what the program itself says, and
// nothing is believed of a program that has ended. `npm run image:check` carries out the rest.
import { spawn } from 'node:child_process'
import { expect, onTestFinished, test } from 'vitest'
import { addressOf, type Started, within } from '../../deploy/image-check.ts'
import { serve } from '../api/world.ts'

function started(script: string): Started {
  const child = spawn(process.execPath, ['--eval', script], { stdio: ['ignore', 'pipe', 'pipe'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const said: string[] = []
  child.stdout.setEncoding('utf8').on('data', (text: string) => said.push(text))
  return { child, said: () => said.join('') }
}

test('the address is the one that the program says it has', async () => {
  const program = started(
    `require('node:http').createServer().listen(0, '127.0.0.1', function () { console.log('page http://127.0.0.1:' + this.address().port + '/') })`,
  )
  expect(await addressOf(program)).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
})

test('a program that ended is not believed, although another answers in its place', async () => {
  const foreign = await serve((_request, response) => response.end('ok'))
  const program = started('process.exitCode = 3')
  const answered = within(program, '/livez', async () => {
    const text = await (await fetch(`${foreign.url}/livez`)).text()
    await new Promise((resolve) => (program.child.exitCode === null ? program.child.once('exit', resolve) : resolve(undefined)))
    return text
  })
  await expect(answered).rejects.toThrow('it ended before /livez')
})

test('a program that says no address and ends is told of at once, with what it said', async () => {
  await expect(addressOf(started(`console.log('no room'); process.exitCode = 1`))).rejects.toThrow(/it ended before its address: no room/)
})
