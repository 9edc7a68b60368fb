/**
 * `npm run bench -- [storage] [http] [start] [micro] [growth]`: measures and prints, everything when no part is named;
 * `npm run bench -- soak` keeps the local server busy for minutes.
 * `--only` measures one operation of http or one table of storage. `--objects` is how many are listed, how many live
 * beside those that are swept, and the most that growth makes. Nothing here is a test: figures depend on the machine and on what else it does.
 */
import { command, UsageError, wordsIn } from '../../infra/command.ts'
import { benchGrowth } from './growth.ts'
import { benchHttp, httpOperations } from './http.ts'
import { benchMicro } from './micro.ts'
import { machine } from './print.ts'
import { benchSoak } from './soak.ts'
import { benchStart } from './start.ts'
import { benchStorage, storageParts } from './storage.ts'

const USAGE = `usage: npm run bench -- [storage] [http] [start] [micro] [growth] [--seconds 1] [--rounds 3] [--objects 10000] [--only NAME] [--profile FOLDER]
       npm run bench -- soak [--minutes 10]
`

await command(USAGE, async (args) => {
  const { values, positionals } = wordsIn(args, {
    seconds: { type: 'string', default: '1' },
    rounds: { type: 'string', default: '3' },
    objects: { type: 'string', default: '10000' },
    only: { type: 'string' },
    profile: { type: 'string' },
    minutes: { type: 'string', default: '10' },
  })
  const positive = (name: 'seconds' | 'rounds' | 'objects' | 'minutes'): number => {
    const value = Number(values[name])
    if (!(value > 0)) throw new UsageError(`--${name} is no number above 0`)
    return value
  }
  const [seconds, rounds, objects, minutes] = [
    positive('seconds'),
    positive('rounds'),
    positive('objects'),
    positive('minutes'),
  ]
  const parts: Readonly<Record<string, () => Promise<void>>> = {
    storage: () => benchStorage({ seconds, rounds, objects, only: values.only }),
    http: () => benchHttp({ seconds, rounds, profile: values.profile, only: values.only }),
    start: () => benchStart({ rounds: 3 * rounds }),
    micro: benchMicro,
    growth: () => benchGrowth({ rounds, objects }),
  }
  // Only where it is named.
  const all = new Map([...Object.entries(parts), ['soak', () => benchSoak({ minutes })] as const])
  const wanted = positionals.length > 0 ? positionals : Object.keys(parts)
  const unknown = wanted.find((name) => !all.has(name))
  if (unknown !== undefined) throw new UsageError(`there is no part ${unknown}`)
  const names: Readonly<Record<string, readonly string[]>> = { storage: storageParts, http: httpOperations }
  const known = wanted.flatMap((name) => names[name] ?? [])
  if (values.only !== undefined && !known.includes(values.only)) {
    throw new UsageError(
      `--only names nothing of what is measured: ${known.join(', ') || 'there is nothing to choose'}`,
    )
  }
  machine()
  for (const name of wanted) await all.get(name)?.()
})
