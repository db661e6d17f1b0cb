// Images for a machine that reaches no registry: capkeeper on a stand-in base (Node of this checkout and the libraries it is linked with, as the
// distroless base has them), the sandbox of a pod, and a stand-in for git-sync. Archives as `docker save` writes them, made with tar.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { PARTS } from './parts.ts'

const ROOT = join(import.meta.dirname, '../..')
const NODE = '/nodejs/bin/node'

export const IMAGES = { capkeeper: 'images.example.com/capkeeper:0.1.0', pause: 'images.example.com/pause:1', gitSync: gitSyncImage() }

/** The image that the overlay names, so that it is found on the node. */
function gitSyncImage(): string {
  const text = readFileSync(join(ROOT, 'deploy/kubernetes/overlays/git-sync/git-sync.yaml'), 'utf8')
  return /registry\.k8s\.io\/git-sync\/git-sync:\S+/.exec(text)?.[0] ?? ''
}

interface Config {
  readonly user: string
  readonly entrypoint: readonly string[]
  readonly command?: readonly string[]
  readonly env?: readonly string[]
  readonly workingDir?: string
}

/** An archive of one layer: the tree of a folder. */
function archive(folder: string, name: string, file: string, { user, entrypoint, command, env, workingDir }: Config): void {
  const at = `${folder}.image`
  mkdirSync(at)
  execFileSync('tar', ['--owner=0', '--group=0', '--numeric-owner', '-C', folder, '-cf', join(at, 'layer.tar'), '.'])
  const digest = createHash('sha256')
    .update(readFileSync(join(at, 'layer.tar')))
    .digest('hex')
  const config = {
    architecture: process.arch === 'arm64' ? 'arm64' : 'amd64',
    os: 'linux',
    config: {
      User: user,
      Entrypoint: entrypoint,
      Cmd: command ?? [],
      Env: ['PATH=/usr/local/bin:/usr/bin:/bin', ...(env ?? [])],
      WorkingDir: workingDir ?? '/',
    },
    rootfs: { type: 'layers', diff_ids: [`sha256:${digest}`] },
    history: [],
  }
  writeFileSync(join(at, 'config.json'), JSON.stringify(config))
  writeFileSync(join(at, 'manifest.json'), JSON.stringify([{ Config: 'config.json', RepoTags: [name], Layers: ['layer.tar'] }]))
  execFileSync('tar', ['-C', at, '-cf', file, 'manifest.json', 'config.json', 'layer.tar'])
}

/** Node and what it is linked with, at the places where they are looked for. */
function putNode(folder: string): void {
  const node = realpathSync(process.execPath)
  mkdirSync(join(folder, dirname(NODE)), { recursive: true })
  copyFileSync(node, join(folder, NODE))
  chmodSync(join(folder, NODE), 0o755)
  const libraries = execFileSync('ldd', [node], { encoding: 'utf8' }).match(/\/\S+(?= \()/g) ?? []
  for (const library of libraries) {
    mkdirSync(join(folder, dirname(library)), { recursive: true })
    copyFileSync(realpathSync(library), join(folder, library))
  }
  mkdirSync(join(folder, 'tmp'))
  chmodSync(join(folder, 'tmp'), 0o1777)
}

/** Production packages as the lock has them. */
function packages(): readonly string[] {
  const { packages: locked } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'))
  return Object.entries(Object(locked)).flatMap(([path, about]) =>
    path !== '' && Object(about).dev !== true && existsSync(join(ROOT, path)) ? [path] : [],
  )
}

function capkeeper(folder: string): void {
  putNode(folder)
  const app = join(folder, 'app')
  execFileSync(process.execPath, ['--no-warnings', 'deploy/build.ts', join(app, 'dist')], {
    cwd: ROOT,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  copyFileSync(join(ROOT, 'package.json'), join(app, 'package.json'))
  for (const path of packages()) cpSync(realpathSync(join(ROOT, path)), join(app, path), { recursive: true })
  const bin = join(folder, 'usr/local/bin')
  mkdirSync(bin, { recursive: true })
  writeFileSync(join(bin, 'capkeeper'), `#!${NODE}\nimport("/app/dist/main.js")\n`)
  chmodSync(join(bin, 'capkeeper'), 0o755)
  mkdirSync(join(folder, 'data'))
}

/** As much of git-sync as the pod sees: a worktree below the root, and a link that is flipped to it. Its policies come with it. */
const GIT_SYNC = `const fs = require('node:fs')
const root = (process.argv.find((word) => word.startsWith('--root=')) ?? '').slice(7)
setTimeout(() => {
  fs.mkdirSync(root + '/.worktrees/0/policies', { recursive: true })
  fs.writeFileSync(root + '/.worktrees/0/policies/acme.yaml', 'apiVersion: capkeeper/v1\\nkind: CapPolicy\\nmetadata: {name: acme}\\nspec: {team: {cap: 100000}}\\n')
  fs.symlinkSync('.worktrees/0', root + '/current')
  console.log('synced')
}, 3000)
setInterval(() => undefined, 1000)
process.on('SIGTERM', () => process.exit(0))
`

/** Makes the archives in a folder; gives their files. */
export function makeImages(folder: string): readonly string[] {
  const tree = (name: string): string => {
    const at = join(folder, name)
    mkdirSync(at, { recursive: true })
    return at
  }
  const file = (name: string): string => join(folder, `${name}.tar`)
  const [own, pause, gitSync] = [tree('capkeeper'), tree('pause'), tree('git-sync')]
  capkeeper(own)
  archive(own, IMAGES.capkeeper, file('capkeeper'), {
    user: '65532:65532',
    entrypoint: [NODE, '/app/dist/main.js'],
    command: ['run'],
    env: ['NODE_ENV=production', 'NODE_OPTIONS=--max-semi-space-size=1 --max-old-space-size=64'],
    workingDir: '/data',
  })
  copyFileSync(join(PARTS, 'pause'), join(pause, 'pause'))
  archive(pause, IMAGES.pause, file('pause'), { user: '65535:65535', entrypoint: ['/pause'] })
  putNode(gitSync)
  writeFileSync(join(gitSync, 'git-sync.cjs'), GIT_SYNC)
  archive(gitSync, IMAGES.gitSync, file('git-sync'), { user: '65533:65533', entrypoint: [NODE, '/git-sync.cjs'] })
  return [file('capkeeper'), file('pause'), file('git-sync')]
}
