/** Plays runs of `keyplane rotate` that end between two of their steps, with a store of the value. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { leaveLock } from '../../support/locks.ts'
import { keys, management } from '../../support/objects.ts'
import type { Ran } from '../../support/programs.ts'
import type { TestServer } from '../../support/server.ts'
import type { CommandLine } from './commandline.ts'
import type { Front, Moment } from './front.ts'

/** Where a run ends: at one of its requests, or by the command that stores the value. */
export type Kill =
  | { request: number; moment: Moment }
  /** The command fails before or after it has stored the value. What the run leaves is the same as when it is killed there. */
  | { fails: Moment }
  /** `begun`: the command dies too, with the value in its hands. `storing`: it goes on without its parent. `stored`: it has stored the value. */
  | { command: 'begun' | 'storing' | 'stored' }

export const commandKills: Kill[] = [{ command: 'begun' }, { command: 'storing' }, { command: 'stored' }]

/** Who rotates a key, and where its value is stored. */
export const situations = [
  'a job of an administrator',
  'a job that is given the stored value',
  'a person with a context',
  'a person with a context and a store',
] as const

export interface Scene {
  name: string
  /** Where the run of a machine keeps what it must find again. */
  stateOf(machine: string): string
  /** Returns the value that is stored. */
  read(): Promise<string>
  /** Reports whether the stored value works, without using it. */
  works(): Promise<boolean>
  /**
   * Runs the command to its end, or kills it. Returns whether it was killed. `lost` counts requests: the answer to that one is lost.
   * A run that is no process is left as it is then, without an answer to its request, and with the lock of a process that is dead.
   */
  run(options?: {
    isProcess?: boolean
    kill?: Kill | undefined
    lost?: number
    machine?: string
    args?: string[]
  }): Promise<Ran & { isKilled: boolean }>
}

/** Stores standard input in `$STORE` by rename. `$KILL` says when it kills its parent, whose process id is in `$PARENT`. */
const STORE = `
parent() { until [ -s "$PARENT" ]; do sleep 0.02; done; kill -9 "$(cat "$PARENT")"; }
value=$(cat)
if [ "$KILL" = begun ]; then parent; exit 1; fi
if [ "$KILL" = storing ]; then parent; fi
if [ "$KILL" = before ]; then exit 1; fi
printf %s "$value" > "$STORE.new" && mv "$STORE.new" "$STORE"
if [ "$KILL" = after ]; then exit 1; fi
if [ "$KILL" = stored ]; then parent; fi
: > "$PARENT.done"`

let count = 0

export async function createScene(
  { server, front, cli }: { server: TestServer; front: Front; cli: CommandLine },
  situation: (typeof situations)[number],
): Promise<Scene> {
  const name = `job-${++count}`
  const made = await server.make(keys, { metadata: { name }, spec: { displayName: 'Job', user: 'alice' } })
  const key: string = made.spec.key
  const store = await cli.write(`${name}.store`, key)
  const authority = await cli.write(`${name}.crt`, front.certificateAuthority)
  const certificateAuthorityData = Buffer.from(front.certificateAuthority).toString('base64')
  const contexts = { mine: { server: front.base, certificateAuthorityData, key } }
  const config = await cli.write(`${name}.json`, JSON.stringify({ currentContext: 'mine', contexts }))
  const isPerson = situation.startsWith('a person')
  const isInConfig = situation === 'a person with a context'
  const read = async () =>
    isInConfig ? JSON.parse(await readFile(config, 'utf8')).contexts.mine.key : await readFile(store, 'utf8')

  const stateOf = (machine: string) => join(cli.home, `${name}.${machine}`, 'keyplane/rotations')

  let runs = 0
  return {
    name,
    stateOf,
    read,
    async works() {
      const body = { spec: { accessKey: await read() } }
      const { json } = await server.call(`${management}/selves`, { method: 'POST', body })
      return json.status?.accessKey === name
    },
    async run({ isProcess = true, kill, lost, machine = 'one', args = [] } = {}) {
      const parent = join(cli.home, `${name}.${++runs}.pid`)
      const session = isPerson
        ? { KEYPLANE_CONFIG: config }
        : {
            KEYPLANE_URL: front.base,
            KEYPLANE_KEY: situation === 'a job of an administrator' ? server.adminKey : await read(),
            KEYPLANE_CA: authority,
          }
      let request = 0
      let isKilled = false
      const { promise: left, resolve: leave } = Promise.withResolvers<Ran>()
      front.act = (moment): boolean | Promise<boolean> => {
        if (moment === 'before') request++
        if (moment === 'after' && request === lost) return true
        if (kill === undefined || !('request' in kill) || kill.request !== request || kill.moment !== moment)
          return false
        isKilled = true
        if (isProcess) running.kill('SIGKILL')
        else leave(running.said)
        return isProcess || new Promise(() => {})
      }
      const clock = {
        now: () => new Date(),
        elapsed: () => performance.now(),
        // A run that was left rests when the timeout of its request ends, instead of repeating it.
        pause: (milliseconds: number, signal?: AbortSignal) =>
          isKilled ? new Promise<never>(() => {}) : sleep(milliseconds, undefined, { ...(signal && { signal }) }),
      }
      const command = isInConfig ? [] : ['--', 'sh', '-c', STORE]
      const env = {
        ...session,
        XDG_STATE_HOME: join(cli.home, `${name}.${machine}`),
        STORE: store,
        PARENT: parent,
        KILL: String(Object.values(kill ?? {}).at(0) ?? ''),
      }
      const call = ['rotate', name, ...args, ...command]
      const running = isProcess ? await cli.start(call, { env }) : cli.begin(call, { env, clock })
      if (running.pid !== undefined) await cli.write(`${name}.${runs}.pid`, String(running.pid))
      const ran = await Promise.race([running.ended, left])
      if (!isProcess && isKilled) await abandonLocks(stateOf(machine))
      if (kill && 'command' in kill && ran.code === null) {
        isKilled = true
        if (kill.command !== 'begun') await exists(`${parent}.done`)
      }
      return { ...ran, isKilled }
    },
  }
}

/** Gives the locks in a folder to a process that is dead. */
async function abandonLocks(folder: string): Promise<void> {
  for (const name of await readdir(folder)) if (name.endsWith('.lock')) await leaveLock(join(folder, name))
}

async function exists(file: string): Promise<void> {
  while ((await readFile(file).catch(() => undefined)) === undefined) await sleep(10)
}
