/** Runs `npm run bench`. Nothing here is a test: figures depend on the machine and its load. */
import { type Command, type Option, runCommand, UsageError } from '../../infra/command.ts'
import { benchConsole } from './console.ts'
import { benchHandlers } from './handlers.ts'
import { benchLoad, loadOperations } from './load.ts'
import { benchPrice } from './price.ts'
import { machine } from './print.ts'
import { benchStart, startTables } from './start.ts'

const number = <const N extends string>(fallback: N, help: string) =>
  ({ type: 'string', value: 'N', default: fallback, help }) as const satisfies Option

const COMMAND = {
  call: 'npm run bench',
  about:
    'Measures and prints. The parts are handlers, load, start, price and console, all of them where none is named.',
  words: '[PART...]',
  options: {
    rounds: number('3', 'how often each thing is measured'),
    objects: number('10000', 'four times a round of load'),
    connections: number('16', 'of load'),
    only: { type: 'string', value: 'NAME', help: 'one operation of load, or one table of start' },
    base: {
      type: 'string',
      value: 'FOLDER',
      help: 'bundles of another commit, with which handlers compares; it then exits with 1 if one is slower',
    },
    profile: { type: 'string', value: 'FOLDER', help: 'where CPU profiles of load and handlers are written' },
  },
} as const satisfies Command

await runCommand(COMMAND, async (values, words) => {
  const positive = (name: 'rounds' | 'objects' | 'connections'): number => {
    const value = Number(values[name])
    if (!(value > 0)) throw new UsageError(`--${name} must be a number above 0`)
    return value
  }
  const [rounds, objects] = [positive('rounds'), positive('objects')]
  const connections = positive('connections')
  const judge = (sentences: readonly string[]): void => {
    for (const sentence of sentences) process.stdout.write(`${sentence}\n`)
    if (sentences.length > 0) process.exitCode = 1
  }
  const parts: Readonly<Record<string, () => Promise<void>>> = {
    handlers: async () =>
      judge(await benchHandlers({ rounds: 4 * rounds, base: values.base, profile: values.profile })),
    load: () =>
      benchLoad({ connections, rounds, objects: Math.ceil(objects / 4), profile: values.profile, only: values.only }),
    start: () => benchStart({ rounds: 3 * rounds, only: values.only }),
    price: () => benchPrice(),
    console: async () => judge(await benchConsole({ rounds })),
  }
  const wanted = words.length > 0 ? words : Object.keys(parts)
  const unknown = wanted.find((name) => !Object.hasOwn(parts, name))
  if (unknown !== undefined) throw new UsageError(`there is no part ${unknown}`)
  const names: Readonly<Record<string, readonly string[]>> = {
    load: loadOperations,
    start: startTables,
  }
  const known = wanted.flatMap((name) => names[name] ?? [])
  if (values.only !== undefined && !known.includes(values.only)) {
    throw new UsageError(
      `--only names nothing of what is measured: ${known.join(', ') || 'there is nothing to choose'}`,
    )
  }
  machine()
  for (const name of wanted) await parts[name]?.()
})
