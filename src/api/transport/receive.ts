// Reads one answer as its decompressed bytes arrive: listings row by row, all else as text, never more than its bound. It awaits each chunk,
// so that other work runs in between.
import type { IncomingHttpHeaders } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Operation, RowPlan, WireAnswer } from '../../ports.ts'
import { BoundError, MAX_ANSWER_BYTES, MAX_SMALL_ANSWER_BYTES, tooLarge } from '../bounds.ts'
import { createCutter } from './cut.ts'
import { type Claim, noRoom, type Room } from './room.ts'

/** Status and headers, as they come before the body. */
export interface Answer {
  readonly statusCode: number
  readonly headers: IncomingHttpHeaders
}

interface Received extends Pick<WireAnswer, 'body' | 'rows'> {
  readonly answer: Answer
}

interface Receiving {
  readonly operation: Operation
  readonly rows: RowPlan | undefined
  readonly room: Room
  readonly claim: Claim
}

/** Rejects with the stream's error, or with a `BoundError`. */
export async function receive(stream: Duplex, { operation, rows, room, claim }: Receiving): Promise<Received> {
  const answer = await begun(stream)
  const succeeded = answer.statusCode >= 200 && answer.statusCode < 300
  if (!succeeded) return { answer, body: await beginningOf(stream) }
  const limit = rows ? MAX_ANSWER_BYTES[operation] : MAX_SMALL_ANSWER_BYTES
  if (Number(answer.headers['content-length']) > limit) throw new BoundError(tooLarge(limit))
  const cutter = rows && createCutter(rows)
  const whole: Buffer[] = []
  let bytes = 0
  for await (const chunk of stream) {
    bytes += chunk.length
    if (bytes > limit) throw new BoundError(tooLarge(limit))
    if (!cutter) whole.push(chunk)
    else if (!claim.grow(cutter.push(chunk))) throw new BoundError(noRoom(room))
  }
  if (!cutter) return { answer, body: new TextDecoder().decode(Buffer.concat(whole)) }
  const { text, value } = cutter.end()
  return { answer, body: text, rows: { value } }
}

const begun = (stream: Duplex): Promise<Answer> =>
  new Promise((resolve, reject) => {
    // Never removed: an error after reading has ended must not end the process.
    stream.on('error', reject)
    stream.once('response', resolve)
  })

/** The status tells the failure, so the beginning of its text is enough. */
async function beginningOf(stream: Duplex): Promise<string> {
  const parts: Buffer[] = []
  let bytes = 0
  for await (const chunk of stream) {
    parts.push(chunk)
    bytes += chunk.length
    if (bytes >= MAX_SMALL_ANSWER_BYTES) break
  }
  return new TextDecoder().decode(Buffer.concat(parts).subarray(0, MAX_SMALL_ANSWER_BYTES))
}
