/**
 * `npm run bench -- [storage] [http] [start] [micro] [growth]`: measures and prints, everything when no part is named;
 * `npm run bench -- soak` keeps the local server busy for minutes.
 * `--only` measures one operation of http or one table of storage. `--objects` is how many are listed, how many live
 * beside those that are swept, and the most that growth makes. Nothing here is a test: figures depend on the machine and on what else it does.
 */
import { parseArgs } from 'node:util'
import { benchGrowth } from './growth.ts'
import { benchHttp } from './http.ts'
import { benchMicro } from './micro.ts'
import { machine } from './print.ts'
import { benchSoak } from './soak.ts'
import { benchStart } from './start.ts'
import { benchStorage } from './storage.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: 'string', default: '1' },
    rounds: { type: 'string', default: '3' },
    objects: { type: 'string', default: '10000' },
    only: { type: 'string' },
    profile: { type: 'string' },
    minutes: { type: 'string', default: '10' },
  },
})
const seconds = Number(values.seconds)
const rounds = Number(values.rounds)
const objects = Number(values.objects)
const minutes = Number(values.minutes)

const parts: Readonly<Record<string, () => Promise<void>>> = {
  storage: () => benchStorage({ seconds, rounds, objects, only: values.only }),
  http: () => benchHttp({ seconds, rounds, profile: values.profile, only: values.only }),
  start: () => benchStart({ rounds: 3 * rounds }),
  micro: benchMicro,
  growth: () => benchGrowth({ rounds, objects }),
}

/** Only where it is named. */
const named: Readonly<Record<string, () => Promise<void>>> = { soak: () => benchSoak({ minutes }) }

const wanted = positionals.length > 0 ? positionals : Object.keys(parts)
const unknown = wanted.filter((name) => !(name in parts || name in named))
if (unknown.length > 0 || !(seconds > 0) || !(rounds > 0) || !(objects > 0) || !(minutes > 0)) {
  process.stderr.write(
    `usage: bench [${Object.keys(parts).join('] [')}] [--seconds 1] [--rounds 3] [--objects 10000] [--only NAME] [--profile FOLDER]\n       bench soak [--minutes 10]\n`,
  )
  process.exit(2)
}
machine()
for (const name of wanted) await { ...parts, ...named }[name]?.()
