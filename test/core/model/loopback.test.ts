import { describe, expect, it } from 'vitest'
import { isHostOfHere, isLoopback } from '../../../src/core/model/loopback.ts'

describe('loopback', () => {
  it.each(['localhost', '127.0.0.1', '127.8.9.10', '::1'])('is %s', (host) => expect(isLoopback(host)).toBe(true))
  it.each(['', '0.0.0.0', '::', '10.0.0.1', '127.0.0.1.example', 'localhost.example', '1127.0.0.1', '[::1]'])('is not %j', (host) =>
    expect(isLoopback(host)).toBe(false),
  )
})

describe('a Host header', () => {
  it.each(['localhost', 'localhost:9464', 'LocalHost:1', 'capkeeper.localhost:9464', '127.0.0.1:9464', '10.1.2.3', '[::1]:9464', '[::1]'])(
    'of this machine is %s',
    (header) => expect(isHostOfHere(header)).toBe(true),
  )
  it.each([
    'rebound.example',
    'rebound.example:9464',
    'localhost.example',
    '127.0.0.1.example',
    '',
    'a b',
    'localhost:x',
    'evil@localhost',
  ])('that anybody could have pointed here is %j', (header) => expect(isHostOfHere(header)).toBe(false))
})
