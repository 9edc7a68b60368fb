/**
 * A program that needs one cached credential and prints its token, for tests with many processes. The environment names its server,
 * says what time it is, and before which call of the file system or the server the process is killed.
 */
import fs from 'node:fs'
import http from 'node:http'
import { syncBuiltinESMExports } from 'node:module'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { cachedCredential } from '../../../../clients/cli/src/credentials/flight.ts'
import { testIo } from './testio.ts'

const { SERVER = '', AHEAD = '0', KEY = 'key', KILL_AT = '0' } = process.env

let calls = 0
/** Counts a step, and dies before the one that the environment names. */
function step(): void {
  calls++
  if (calls === Number(KILL_AT)) process.kill(process.pid, 'SIGKILL')
}

/** Whether this process has said that it waits for another one. */
let saysSo = false

const now = () => new Date(Date.now() + Number(AHEAD) * 1000)
const { io } = testIo({
  env: process.env,
  now,
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
  async pause(milliseconds) {
    if (!saysSo) get('/waiting').catch(() => {})
    saysSo = true
    await sleep(milliseconds)
  },
})

const get = (path: string, signal?: AbortSignal): Promise<string> =>
  new Promise((resolve, reject) => {
    http
      .get(`${SERVER}${path}`, { agent: false, ...(signal && { signal }) }, async (response) =>
        resolve(await text(response)),
      )
      .on('error', reject)
  })

async function issue(signal: AbortSignal) {
  step()
  const token = await get('/issue', signal)
  step()
  const expirationTimestamp = new Date(now().getTime() + 900_000).toISOString()
  return { credential: { token, expirationTimestamp }, seconds: 900 }
}

const counted = /^(mkdir|lstat|chmod|open|fstat|stat|readFile|writeFile|close|rename|unlink|readdir|rm|rmdir)(Sync)?$/
for (const functions of [fs, fs.promises] as unknown as Record<string, (...args: unknown[]) => unknown>[]) {
  for (const [name, original] of Object.entries(functions)) {
    if (!counted.test(name) || (functions === (fs as unknown) && !name.endsWith('Sync'))) continue
    functions[name] = (...args) => {
      step()
      return original.apply(functions, args)
    }
  }
}
syncBuiltinESMExports()

const owner = { server: 'https://keys.example.com', key: KEY }
const credential = await cachedCredential(io, { owner, target: 'demo', issue })
io.out('token' in credential ? credential.token : '')
