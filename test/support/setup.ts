// Laws try the same cases in every run, so that no failure depends on luck; CAPKEEPER_SEED=N tries others, CAPKEEPER_FUZZ=N times as many.
import { configureGlobal } from 'fast-check'
import { runs } from './fuzz.ts'

configureGlobal({ seed: Number(process.env['CAPKEEPER_SEED'] ?? 1), ...runs(100) })
