// Waits until git-sync has fetched the policies for the first time, but no longer than 20 s: while git is away capkeeper starts all the same,
// with the last good policies out of its ledger.
import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

const end = Date.now() + Number(process.env.WITHIN ?? 20) * 1000
while (!existsSync(process.env.LINK ?? '/git/root/current') && Date.now() < end) await sleep(200)
