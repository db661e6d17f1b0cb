// Laws try the same cases in every run, so that no failure depends on luck; CAPKEEPER_SEED=N tries others.
import { configureGlobal } from 'fast-check'

configureGlobal({ seed: Number(process.env['CAPKEEPER_SEED'] ?? 1) })
