/**
 * Evaluates the trials of scopes beside a request that the real scopes allow, and records what they would refuse: as a mark of the
 * trial, and as an entry in the usage of the key that made the request. Each process writes each of them once a day.
 */
import type { Attributes, Decision } from '../../authorization/attributes/attributes.ts'
import { judgeEach, missingEntry } from '../../authorization/missingentry.ts'
import { describeRequest } from '../../authorization/scopes/evaluate.ts'
import type { ScopeOptions } from '../../authorization/scopes/project.ts'
import { kubeConfigCluster, reachableClusters } from '../../authorization/scopes/reachableclusters.ts'
import type { Scope, ScopeChain } from '../../authorization/scopes/scope.ts'
import type { SpaceOptions } from '../../authorization/scopes/space.ts'
import { runningTrials, type ScopeTrial, staysAllowed } from '../../authorization/trials/scopetrial.ts'
import { makesTokens } from '../../authorization/usage/entryeffects.ts'
import { judgeEntry, type UsedEntry, usedEntry, withoutAnyName } from '../../authorization/usage/usedentry.ts'
import { stringify } from '../../meta/encoding/json.ts'
import { rfc3339OfUnix } from '../../meta/encoding/time.ts'
import type { Deadline } from '../../meta/errors/deadline.ts'
import { withoutCredentials } from '../../meta/value/credentialtext.ts'
import type { CompanionItem, Storage } from '../../storage/interface.ts'
import { dayOf, itemHash } from '../keptitems.ts'
import { signalItem } from '../signals.ts'
import { usageItem } from './items.ts'
import type { TrialRecorder, TriedRequest } from './record.ts'
import { markAttributes, trialKey } from './trialitems.ts'

interface Deps {
  storage: Pick<Storage, 'writeCompanion'>
  scopes: ScopeOptions & SpaceOptions
  /** Whether the deployment records usage. The mark of a trial needs none. */
  recordUsage: boolean
  /** Unix ms. */
  now(): number
  /** Writes a signal, once. Never rejects. */
  signal(item: CompanionItem): Promise<void>
  /** Receives the error of a failed write, which fails no request. */
  failed(error: unknown): void
}

/** The most that a process writes of a trial in a day, and of a key. */
const MOST_REFUSALS = 32
/** Limits the memory. A full one forgets everything, so that refusals are written again. */
const MOST_KNOWN = 2000
/** The longest that a request waits for a write, in milliseconds. */
const WAIT_MS = 1000
/** How long a refusal is not written again after a failure, in milliseconds: the table may be throttled. */
const PAUSE_MS = 10_000
/** Limits the JSON of a scope entry that is shown. Entries with a credential are not shown either. */
const MAX_ENTRY_BYTES = 600

/** Returns the recorder of a process. */
export function createTrialRecorder({ storage, scopes, recordUsage, now, signal, failed }: Deps): TrialRecorder {
  /** Until when each item is not written again, in Unix ms, and how many are written of each trial and key, today. */
  const known = new Map<string, number>()
  const counts = new Map<string, number>()
  let today = ''

  async function writeOnce(of: string, what: string, write: (deadline: Deadline) => Promise<unknown>): Promise<void> {
    const day = dayOf(now() / 1000)
    if (day !== today || known.size >= MOST_KNOWN) {
      known.clear()
      counts.clear()
      today = day
    }
    const id = `${of} ${what}`
    const count = counts.get(of) ?? 0
    if (now() < (known.get(id) ?? 0) || count >= MOST_REFUSALS) return
    known.set(id, Number.POSITIVE_INFINITY)
    counts.set(of, count + 1)
    const end = now() + WAIT_MS
    try {
      await write(() => end - now())
    } catch (error) {
      known.set(id, now() + PAUSE_MS)
      counts.set(of, count)
      failed(error)
    }
  }

  async function record({ uid: trial, since }: ScopeTrial, entry: UsedEntry, { asker }: TriedRequest): Promise<void> {
    const at = Math.floor(now() / 1000)
    const { name, uid } = asker.key
    const request = wordsOf(entry.attributes)
    const hash = itemHash(`${trial}\n${request}`)
    const mark = { ...trialKey(trial, since), attributes: markAttributes(hash, at) }
    const item = usageItem(uid, { entry, refusedBy: { uid: trial, since } }, at)
    await Promise.all([
      writeOnce(`${trial} ${since}`, hash, async (deadline) => {
        // Keys that a key made are in its trial until the time that it had, also after it was ended or deleted with the key.
        if (!(await storage.writeCompanion({ ...mark, when: 'present' }, { deadline }))) return
        await signal(signalItem({ kind: 'scope-trial-refused', name, uid, at, request, trial }, { hash }))
      }),
      recordUsage && writeOnce(uid, item.sk, (deadline) => storage.writeCompanion(item, { deadline })),
    ])
  }

  return {
    async tried(trials, asked) {
      const { chain, attributes, place, real, asker } = asked
      const judge = (all: ScopeChain): Decision => judgeEntry(all, { attributes, ...(place && { place }) }, scopes)
      const refusals = runningTrials(trials, now() / 1000).flatMap((trial) => {
        const all = [...chain, trial.scope]
        if (!staysAllowed(judge(all), real, attributes, asker))
          return { trial, refused: refusalOf(all, attributes, judge) }
        return reachesNone(all, attributes) ? { trial, refused: { request: 'a token for any cluster' } } : []
      })
      // Without the names of objects, as usage has it, because they are many.
      const entryOf = ({ scope }: ScopeTrial) =>
        usedEntry([...chain, scope], attributes, place, scopes) ?? { attributes, ...(place && { place }) }
      await Promise.all(refusals.map(({ trial }) => record(trial, entryOf(trial), asked)))
      return refusals.map(({ trial, refused }) => warningOf(trial, refused, asker.key))
    },
  }

  function wordsOf(attributes: Attributes): string {
    return withoutCredentials(describeRequest(withoutAnyName(attributes), scopes))
  }

  function refusalOf(chain: ScopeChain, attributes: Attributes, judge: (chain: ScopeChain) => Decision): Refusal {
    const exact = missingEntry(chain, attributes, scopes, judgeEach(chain, judge))?.exact
    const text = exact ? stringify(exact) : ''
    const isShown = Buffer.byteLength(text) <= MAX_ENTRY_BYTES && withoutCredentials(text) === text
    return { request: wordsOf(attributes), ...(exact && isShown && { scope: exact }) }
  }
}

/** What a trial would refuse, in words, and the scope entry that the tried scope lacks, if there is one. */
interface Refusal {
  request: string
  scope?: Scope
}

/** Reports whether the request makes a token, which would be for no cluster with these scopes, or not for that of its kube config. */
function reachesNone(chain: ScopeChain, attributes: Attributes): boolean {
  const cluster = kubeConfigCluster(attributes)
  const reached = cluster !== undefined || makesTokens({ attributes }) ? reachableClusters(chain) : 'all'
  return reached !== 'all' && (cluster === undefined ? reached.size === 0 : !reached.has(cluster))
}

/** Returns the warning for the holder of the key, who may not know the name of another key. */
function warningOf({ uid, until }: ScopeTrial, { request, scope }: Refusal, key: { uid: string }): string {
  const tried = uid === key.uid ? 'the scope that this access key tries' : 'a scope that is tried above this access key'
  const entry = scope ? `; ${stringify(scope)} would allow it` : ''
  return `${tried} until ${rfc3339OfUnix(until)} does not allow ${request}${entry}`
}
