// A server for one test, and other resources that it opens: closed after the test, the last opened first.
import { onTestFinished } from 'vitest'
import { type Server, type ServerOptions, startServer } from '../../src/daemon/http/server.ts'
import { serverParts } from './server.ts'

/** Closes it after the test. */
export function closing<T extends { close(): unknown }>(one: T): T {
  onTestFinished(async () => {
    await one.close()
  })
  return one
}

/** Starts a server over made-up views; the parts may override it. */
export const serve = async (parts: Partial<ServerOptions> = {}): Promise<Server> => closing(await startServer(serverParts(parts)))
