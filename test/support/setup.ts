// Laws try the same cases in every run, so that a failure is never a matter of luck; others with CAPKEEPER_SEED=N.
import { configureGlobal } from 'fast-check'

configureGlobal({ seed: Number(process.env['CAPKEEPER_SEED'] ?? 1) })
