// The PrometheusRule manifest: the same text as the rule file, put below `spec:`. Text is moved, not parsed, so that both stay
// readable side by side and every comment is in both.

const HEAD = `# Made from deploy/prometheus/capkeeper.rules.yaml by \`npm run deploy:generate\`; edit there.
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: capkeeper
  labels:
    app.kubernetes.io/name: capkeeper
    app.kubernetes.io/component: alerts
spec:
`

/** The manifest of a rule file whose only top-level key is `groups`; the file's own opening comment stays behind. */
export function prometheusRule(rules: string): string {
  const from = rules.search(/^groups:$/m)
  if (from < 0) throw new Error('the rule file has no line "groups:"')
  const body = rules.slice(from).replace(/^(?=.)/gm, '  ')
  return HEAD + body
}
