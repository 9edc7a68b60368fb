/** Runs `npm start` as a process of its own, for tests of clients that need its demo virtual cluster and its issuer of ID tokens. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import https from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Answer, type Call, request } from './request.ts'

const main = join(import.meta.dirname, '../../infra/local/main.ts')
const movedClock = join(import.meta.dirname, 'movedclock.ts')

type Setting = 'KUBEBUILDER_ASSETS' | 'AWS_ENDPOINT_URL_DYNAMODB' | 'SIGNING_KEYS' | 'PORT' | 'DATA_DIR'

export interface StartedServer {
  pid: number
  /** Its data folder. */
  folder: string
  /** The URL of the API, with its stage. */
  url: string
  /** The path of the file with its certificate authority. */
  authorityFile: string
  /** PEM. */
  certificateAuthority: string
  /** The `client_id` of the demo trust, for jobs of the environment production. */
  credential: string
  /** The variables with which a job of the demo issuer gets ID tokens. */
  idTokenVariables: { ACTIONS_ID_TOKEN_REQUEST_URL: string; ACTIONS_ID_TOKEN_REQUEST_TOKEN: string }
  adminKey: string
  /** Sends a request to a path below the URL, as the administrator unless it has another token. */
  call(path: string, call?: Call): Promise<Answer>
  /** Sets the clock of a server that was started with one. It goes on from there. */
  setClock(now: Date): Promise<void>
  /** Stops the clock of a server that was started with one, until it is set. */
  stopClock(at: Date): Promise<void>
  stop(): Promise<void>
}

/**
 * Starts the local server below a stage, on a free port. With KUBEBUILDER_ASSETS its demo virtual cluster is a real one. With
 * `clock` it starts at that time, which may not be a year from now: its certificate would not be valid. `options` are those of Node.js. A `DATA_DIR`
 * is kept when it stops.
 */
export async function startedServer(
  settings: Partial<Record<Setting, string>> = {},
  clock?: Date,
  options: readonly string[] = [],
): Promise<StartedServer> {
  const folder = settings.DATA_DIR ?? (await mkdtemp(join(tmpdir(), 'keyplane-started-')))
  const { PATH, NODE_COMPILE_CACHE } = process.env
  const offset = clock && { CLOCK_OFFSET: String(clock.getTime() - Date.now()) }
  const own = { HOME: folder, TMPDIR: folder, PORT: '0', STAGE: 'prod', DATA_DIR: folder }
  const env = { PATH, NODE_COMPILE_CACHE, ...own, ...settings, ...offset }
  const program = [...options, ...(clock ? ['--import', movedClock] : []), main]
  const server = spawn(process.execPath, program, {
    cwd: folder,
    env,
    stdio: ['pipe', 'pipe', 'pipe', ...(clock ? ['ipc' as const] : [])],
  })
  let printed = ''
  await new Promise<void>((resolve, reject) => {
    server.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
      printed += chunk
    })
    server.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
      printed += chunk
      if (printed.includes('Press Ctrl-C to stop.')) resolve()
    })
    server.once('exit', (code) => reject(new Error(`ended with ${code}: ${printed}`)))
  })
  const read = (name: string) => readFile(join(folder, name), 'utf8')
  const variables = Object.fromEntries(
    [...(await read('job.env')).matchAll(/^export (\w+)='(.*)'$/gm)].map(([, name = '', value = '']) => [name, value]),
  )
  const { KEYPLANE: url = '', CREDENTIAL: credential = '', ...idTokenVariables } = variables
  const [certificateAuthority, adminKey] = await Promise.all([read('ca.crt'), read('access-key')])
  const agent = new https.Agent({ ca: certificateAuthority, keepAlive: true })
  async function moveClock(message: { clockOffset: number } | { clockStop: number }): Promise<void> {
    if (!clock) throw new Error('the server has the clock of this machine')
    const moved = once(server, 'message')
    server.send(message)
    await moved
  }
  return {
    pid: server.pid ?? 0,
    folder,
    url,
    authorityFile: join(folder, 'ca.crt'),
    certificateAuthority,
    credential,
    idTokenVariables: idTokenVariables as StartedServer['idTokenVariables'],
    adminKey,
    call: (path, call = {}) => request(agent, `${url}${path}`, { token: adminKey, ...call }),
    setClock: (now) => moveClock({ clockOffset: now.getTime() - Date.now() }),
    stopClock: (at) => moveClock({ clockStop: at.getTime() }),
    async stop() {
      agent.destroy()
      const ended = once(server, 'exit')
      if (server.kill('SIGTERM')) await ended
      if (settings.DATA_DIR === undefined) await rm(folder, { recursive: true, force: true })
    },
  }
}
