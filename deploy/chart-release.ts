// Puts into Chart.yaml what only a release knows: the place of the repository, as home, sources, icon and maintainer. Nothing else of the file changes,
// and in the repository itself no such place stands.
//   node deploy/chart-release.ts https://git.example.com/acme/capkeeper REVISION
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseDocument } from 'yaml'

const CHART = join(import.meta.dirname, 'helm/capkeeper/Chart.yaml')

/** Chart.yaml with the repository's address (`https://HOST/OWNER/NAME`) and the commit that the icon is taken from. */
export function withRepository(chartYaml: string, address: string, revision: string): string {
  const { origin, pathname } = new URL(address)
  const [owner = '', name = ''] = pathname.split('/').filter((part) => part !== '')
  if (owner === '' || name === '') throw new Error(`${address} is not the address of a repository: https://HOST/OWNER/NAME`)
  const home = `${origin}/${owner}/${name}`
  const chart = parseDocument(chartYaml)
  chart.set('home', home)
  chart.set('sources', [home])
  chart.set('icon', `${home}/raw/${revision}/deploy/helm/icon.svg`)
  chart.set('maintainers', [{ name: owner, url: `${origin}/${owner}` }])
  return chart.toString({ lineWidth: 0 })
}

if (import.meta.main) {
  const [address = '', revision = ''] = process.argv.slice(2)
  writeFileSync(CHART, withRepository(readFileSync(CHART, 'utf8'), address, revision))
}
