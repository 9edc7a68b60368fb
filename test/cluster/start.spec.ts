/** Tests `npm start` with KUBEBUILDER_ASSETS: the commands of docs/tour.md and the server work on a real demo virtual cluster. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freePort } from '../../infra/local/host/freeport.ts'
import { readPage } from '../support/commands.ts'
import { listenersOf, openTo } from '../support/listeners.ts'
import { runProgram } from '../support/programs.ts'

const main = join(import.meta.dirname, '../../infra/local/main.ts')
const { blocks } = await readPage('docs/tour.md')
const assets = process.env.KUBEBUILDER_ASSETS ?? ''

let folder: string
let port: number
let running: ChildProcess | undefined

/** The environment with kubectl of the same folder and without personal settings. */
const environment = () => ({ PATH: `${assets}:${process.env.PATH}`, HOME: folder, TMPDIR: folder })

/** Starts the server in the folder and returns its output and its exit. */
async function start(settings: Record<string, string> = {}) {
  const env = { ...environment(), PORT: String(port), KUBEBUILDER_ASSETS: assets, ...settings }
  const child = spawn(process.execPath, [main, '--examples'], { cwd: folder, env })
  running = child
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    errors += chunk
  })
  const printed = await new Promise<string>((resolve, reject) => {
    let output = ''
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk
      if (output.includes('Press Ctrl-C to stop.')) resolve(output)
    })
    child.once('close', (code) => reject(new Error(`ended with ${code}: ${errors}`)))
  })
  return {
    printed,
    pid: child.pid ?? 0,
    async stop() {
      const ended = once(child, 'close')
      child.kill('SIGTERM')
      return [(await ended)[0], errors]
    },
  }
}

/** Runs lines like a user who pastes them into a terminal in the folder. */
const shell = (lines: string) => runProgram('bash', ['-e', '-c', lines], { cwd: folder, env: environment() })

/** Returns the commands below a heading of the tour. */
function commands(heading: string): string {
  const block = blocks.get(heading)?.join('') ?? ''
  expect(block).not.toBe('')
  return block
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'keyplane-start-'))
  port = await freePort()
})
afterAll(async () => {
  if (running?.exitCode === null) running.kill('SIGKILL')
  await rm(folder, { recursive: true, force: true })
})

/** All terminals use one key, which only the first one has in a variable. */
const another = () => `${commands('Before you begin')}KEY=$(cat key) NAME=$(cat name)\n`

test('commands of the tour and the server work with a real kube-apiserver, also after a restart below a stage', async () => {
  const first = await start()
  if (process.platform === 'linux')
    expect((await Promise.all((await listenersOf(first.pid)).map(openTo))).flat()).toEqual([])
  const tour = `${commands('Before you begin')}${commands('A key for a CI job')}printf %s "$KEY" > key; printf %s "$NAME" > name`
  const fetched = commands('A kube config of a virtual cluster')
  expect(await shell(tour)).toMatchObject({ code: 0, stderr: '' })
  // kube-apiserver fetches the public keys in the background.
  await expect.poll(() => shell(another() + fetched), { interval: 1000 }).toMatchObject({ code: 0 })
  const demo = (args: string) => shell(`kubectl --kubeconfig demo.kubeconfig ${args}`)
  const who = "auth whoami -o jsonpath='{.status.userInfo.username} {.status.userInfo.extra}'"
  expect(await readFile(join(folder, 'demo.kubeconfig'), 'utf8')).toMatch(/^ +token: /m)
  expect((await demo(who)).stdout).toMatch(/^alice .*"management\.platform\/target":\["virtualclusters\/p-demo\/demo\//)
  expect((await demo('get pods')).stderr).toContain('No resources found')
  expect((await demo('version')).stdout).toContain('Server Version: v1.')

  const certificate = fetched.replace('certificateTTL: 3600', 'certificateTTL: 3600\n  clientCert: true')
  expect(certificate).not.toBe(fetched)
  const byCertificate = await shell(another() + certificate.replaceAll('demo.kubeconfig', 'certificate.kubeconfig'))
  expect([byCertificate.code, byCertificate.stderr]).toEqual([0, expect.stringContaining('No resources found')])
  const signed = await readFile(join(folder, 'certificate.kubeconfig'), 'utf8')
  expect(signed).toMatch(/^ +client-certificate-data: /m)

  const end = await shell(another() + commands('Revoke a key').replace('rm demo.kubeconfig', ''))
  expect([end.code, end.stdout]).toEqual([0, expect.stringContaining('access key is disabled')])
  await expect
    .poll(async () => (await demo('get pods')).stderr, { interval: 1000 })
    .toContain('the access key no longer gives access')

  const [, lines = ''] = first.printed.split('docs/tour.md has a tour of five minutes.\n')
  const printed = await shell(lines.split('\nkeyplane serves ', 1).join())
  expect([printed.code, printed.stdout]).toEqual([0, expect.stringContaining('system:masters')])
  expect(printed.stderr).toContain('No resources found')
  expect(await first.stop()).toEqual([0, ''])

  const second = await start({ STAGE: 'prod' })
  expect(second.printed).toContain('/prod/kubernetes/management')
  const kept = await shell(`kubectl --kubeconfig certificate.kubeconfig ${who}`)
  expect([kept.code, kept.stdout]).toEqual([0, expect.stringMatching(/^alice /)])
  expect(await shell(tour)).toMatchObject({ code: 0, stderr: '' })
  await expect.poll(() => shell(another() + fetched), { interval: 1000 }).toMatchObject({ code: 0 })
  expect(await second.stop()).toEqual([0, ''])
})
