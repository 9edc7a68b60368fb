/** Plays runs of `keyplane rotate` that are killed between two of their steps, with a store of the value. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { keys, management } from '../../support/objects.ts'
import type { Ran } from '../../support/programs.ts'
import type { TestServer } from '../../support/server.ts'
import type { CommandLine } from './commandline.ts'
import type { Front, Moment } from './front.ts'

/** Where a run is killed: at one of its requests, or by the command that stores the value. */
export type Kill =
  | { request: number; moment: Moment }
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
  /** Returns the value that is stored. */
  read(): Promise<string>
  /** Reports whether the stored value works, without using it. */
  works(): Promise<boolean>
  /** Runs the command to its end, or kills it. Returns whether it was killed. `lost` counts requests: the answer to that one is lost. */
  run(options?: {
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
printf %s "$value" > "$STORE.new" && mv "$STORE.new" "$STORE"
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

  let runs = 0
  return {
    name,
    read,
    async works() {
      const body = { spec: { accessKey: await read() } }
      const { json } = await server.call(`${management}/selves`, { method: 'POST', body })
      return json.status?.accessKey === name
    },
    async run({ kill, lost, machine = 'one', args = [] } = {}) {
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
      front.act = (moment) => {
        if (moment === 'before') request++
        if (moment === 'after' && request === lost) return true
        if (kill === undefined || !('request' in kill) || kill.request !== request || kill.moment !== moment)
          return false
        isKilled = true
        running.kill('SIGKILL')
        return true
      }
      const command = isInConfig ? [] : ['--', 'sh', '-c', STORE]
      const running = cli.start(['rotate', name, ...args, ...command], {
        env: {
          ...session,
          XDG_STATE_HOME: join(cli.home, `${name}.${machine}`),
          STORE: store,
          PARENT: parent,
          KILL: kill && 'command' in kill ? kill.command : '',
        },
      })
      await cli.write(parent.slice(cli.home.length + 1), String(running.child.pid))
      const ran = await running.ended
      if (kill && 'command' in kill && ran.code === null) {
        isKilled = true
        if (kill.command !== 'begun') await exists(`${parent}.done`)
      }
      return { ...ran, isKilled }
    },
  }
}

async function exists(file: string): Promise<void> {
  while ((await readFile(file).catch(() => undefined)) === undefined) await sleep(10)
}
