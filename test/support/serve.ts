// A server for one test, and whatever else it opens: closed when the test is over, the last opened first.
import { onTestFinished } from 'vitest'
import { type Server, type ServerOptions, startServer } from '../../src/daemon/http/server.ts'
import { serverParts } from './server.ts'

/** Closes it when the test is over. */
export function closing<T extends { close(): unknown }>(one: T): T {
  onTestFinished(async () => {
    await one.close()
  })
  return one
}

/** Starts a server over made-up views, unless the parts say otherwise. */
export const serve = async (parts: Partial<ServerOptions> = {}): Promise<Server> => closing(await startServer(serverParts(parts)))
