/** Evaluates the trials of scopes beside a request that is allowed, and records what they would refuse. */
import type { Attributes, Decision } from '../../authorization/attributes/attributes.ts'
import { missingEntry } from '../../authorization/missingentry.ts'
import { describeRequest } from '../../authorization/scopes/evaluate.ts'
import type { ScopeOptions } from '../../authorization/scopes/project.ts'
import type { ScopeChain } from '../../authorization/scopes/scope.ts'
import type { SpaceOptions } from '../../authorization/scopes/space.ts'
import { runningTrials, type ScopeTrial, staysAllowed } from '../../authorization/trials/scopetrial.ts'
import { judgeEntry, usedEntry, withoutAnyName } from '../../authorization/usage/usedentry.ts'
import { stringify } from '../../meta/encoding/json.ts'
import { rfc3339OfUnix } from '../../meta/encoding/time.ts'
import { withoutCredentials } from '../../meta/value/credentialtext.ts'
import type { CompanionItem, Storage } from '../../storage/interface.ts'
import { itemHash } from '../keptitems.ts'
import { signalItem } from '../signals.ts'
import { dayOf } from './days.ts'
import type { TrialRecorder, TriedRequest } from './record.ts'
import { refusalAttributes, type TriedRefusal, trialKey } from './trialitems.ts'

interface Deps {
  storage: Pick<Storage, 'mergeCompanion'>
  scopes: ScopeOptions & SpaceOptions
  /** Unix ms. */
  now(): number
  /** Writes a signal, once. Never rejects. */
  signal(item: CompanionItem): Promise<void>
  /** Receives the error of a failed write, which fails no request. */
  failed(error: unknown): void
}

/** The most refusals of a trial that a process lists in a day. */
const MOST_REFUSALS = 32
/** Limits the memory. A full one forgets everything, so that refusals are written again. */
const MOST_KNOWN = 2000
/** The longest that a request waits for a write, in milliseconds. */
const WAIT_MS = 1000
/** How long a refusal is not written again after a failure, in milliseconds: a revocation has the same one for each key. */
const PAUSE_MS = 10_000
/** A scope entry that is longer as JSON is not shown, nor is one with a credential. */
const MAX_ENTRY_BYTES = 600

/** Returns the recorder of a process. */
export function createTrialRecorder({ storage, scopes, now, signal, failed }: Deps): TrialRecorder {
  /** Until when each refusal is not written again, in Unix ms, and how many are written of each trial, today. */
  const known = new Map<string, number>()
  const counts = new Map<string, number>()
  let today = ''

  async function write(trial: ScopeTrial, refused: TriedRefusal, source: TriedRequest['source']): Promise<void> {
    const at = Math.floor(now() / 1000)
    const day = dayOf(at)
    if (day !== today || known.size >= MOST_KNOWN) {
      known.clear()
      counts.clear()
      today = day
    }
    const { name, uid, resource } = trial.of
    const id = `${uid} ${trial.since}`
    const hash = itemHash(`${uid}\n${refused.request}`)
    if (now() < (known.get(`${id} ${hash}`) ?? 0)) return
    const count = counts.get(id) ?? 0
    if (count > MOST_REFUSALS) return
    known.set(`${id} ${hash}`, Number.POSITIVE_INFINITY)
    counts.set(id, count + 1)
    const isListed = count < MOST_REFUSALS
    const attributes = refusalAttributes(isListed ? { hash, refused } : undefined, at)
    const end = now() + WAIT_MS
    const item = { ...trialKey(uid, trial.since), attributes }
    const { request } = refused
    try {
      // Keys that a key made are in its trial until the time that it had, also after it was ended or deleted with the key.
      const isThere = await storage.mergeCompanion(item, { deadline: () => end - now() })
      const facts = { name, uid, at, request, ...(resource && { resource }), ...source }
      if (isThere && isListed) await signal(signalItem({ kind: 'scope-trial-refused', ...facts }, { hash }))
    } catch (error) {
      known.set(`${id} ${hash}`, now() + PAUSE_MS)
      counts.set(id, count)
      failed(error)
    }
  }

  return {
    async tried(trials, asked) {
      const { attributes, place, real, asker } = asked
      const judge = (chain: ScopeChain): Decision => judgeEntry(chain, { attributes, ...(place && { place }) }, scopes)
      const refusing = runningTrials(trials, Math.floor(now() / 1000)).filter(
        ({ scope }) => !staysAllowed(judge([scope]), real, attributes, asker),
      )
      await Promise.all(
        refusing.map(({ scope, ...trial }) => {
          // Without the names of objects, as usage has it, because they are many.
          const entry = usedEntry([scope], attributes, place, scopes) ?? { attributes }
          return write({ ...trial, scope }, refusalOf([scope], withoutAnyName(entry.attributes), judge), asked.source)
        }),
      )
      return refusing.map((trial) => warningOf(trial, refusalOf([trial.scope], attributes, judge), asker.key))
    },
    async wouldRefuse(trials, refused, key) {
      const refusing = runningTrials(trials, Math.floor(now() / 1000))
      await Promise.all(refusing.map((trial) => write(trial, refused, undefined)))
      return refusing.map((trial) => warningOf(trial, refused, key))
    },
  }

  function refusalOf(chain: ScopeChain, attributes: Attributes, judge: (chain: ScopeChain) => Decision): TriedRefusal {
    const exact = missingEntry(chain, attributes, scopes, judge)?.exact
    const text = exact ? stringify(exact) : ''
    const isShown = Buffer.byteLength(text) <= MAX_ENTRY_BYTES && withoutCredentials(text) === text
    return {
      request: withoutCredentials(describeRequest(attributes, scopes)),
      ...(exact && isShown && { scope: exact }),
    }
  }
}

/** Returns the warning for the holder of the key, who may not know the name of another key. */
function warningOf({ of, until }: ScopeTrial, { request, scope }: TriedRefusal, key: { uid: string }): string {
  const tried =
    of.uid === key.uid ? 'the scope that this access key tries' : 'a scope that is tried above this access key'
  const entry = scope ? `; ${stringify(scope)} would allow it` : ''
  return `${tried} until ${rfc3339OfUnix(until)} does not allow ${request}${entry}`
}
