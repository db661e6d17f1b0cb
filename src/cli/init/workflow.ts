// The workflow that `init` writes, for the code host of the example in deploy/ci. It only validates and plans, and must never get a command that
// writes.
import { VERSION } from '../shared/version.ts'

const SETUP = `      # Pinned to full commits; let Dependabot or Renovate keep them new.
      - uses: actions/checkout@de0fac2e4500dabe0009e67214ff5f5447ce83dd # v6.0.2
        with:
          persist-credentials: false
      - uses: actions/setup-node@48b55a011bda9f5d6aeb4c2d9c7362e8dae4041e # v6.4.0
        with:
          node-version: 24
      - name: Install
        run: npm install --global --ignore-scripts --no-audit --no-fund capkeeper@${VERSION}
`

/** The text of `.github/workflows/capkeeper.yaml`; works where the repository's root is the folder of the config. */
export const workflowText =
  (): string => `# Every push is validated; a pull request gets its plan in the summary of the run. Nothing here writes caps: the daemon does, after the merge.
#
# Settings of the repository: in the environment capkeeper-plan the secret CAPKEEPER_READ_KEY, a service key that can only read. Who may push
# a branch can change this file and use that key, so never put one there that writes.
name: capkeeper

on:
  push:
  # Not pull_request_target: that would hand the secret to whatever a fork brings along.
  pull_request:

permissions:
  contents: read

concurrency:
  group: capkeeper-\${{ github.event_name }}-\${{ github.event.pull_request.number || github.ref }}
  cancel-in-progress: true

jobs:
  validate:
    runs-on: ubuntu-24.04
    timeout-minutes: 10
    steps:
${SETUP}      - name: Validate
        shell: bash
        run: capkeeper validate --config capkeeper.yaml --output markdown | tee -a "$GITHUB_STEP_SUMMARY"

  plan:
    # Forks and Dependabot get no secrets.
    if: >-
      github.event_name == 'pull_request'
      && github.event.pull_request.head.repo.full_name == github.repository
      && github.event.pull_request.user.login != 'dependabot[bot]'
    runs-on: ubuntu-24.04
    timeout-minutes: 30
    environment:
      name: capkeeper-plan
    steps:
${SETUP}      - name: Plan
        shell: bash
        env:
          CAPKEEPER_SERVICE_KEY: \${{ secrets.CAPKEEPER_READ_KEY }}
          # Without the daemon's ledger the plan knows no ownership and no approvals. Give its address where the runner reaches it.
          CAPKEEPER_LEDGER: ':memory:'
        run: capkeeper plan --config capkeeper.yaml --output markdown | tee -a "$GITHUB_STEP_SUMMARY"
`
