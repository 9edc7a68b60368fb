/**
 * Admits requests: judges what is asked by the scopes of a key, confirms that the key still gives access, and records its use. Whoever
 * lets a key act calls `admit`, so that the order is the same everywhere: a key that was refused is not confirmed, and one that has
 * ended is not recorded as used.
 */
import type { Attributes, Decision } from '../../access/attributes/attributes.ts'
import { evaluate } from '../../access/scopes/evaluate.ts'
import { evaluateAt, type Place } from '../../access/scopes/place.ts'
import type { ScopeOptions } from '../../access/scopes/project.ts'
import type { ScopeChain } from '../../access/scopes/scope.ts'
import type { SpaceOptions } from '../../access/scopes/space.ts'
import type { UsageRecorder, UsedKey } from '../usage/recorder.ts'
import type { Ended } from './uses.ts'

/** The steps of a purpose, in their order. */
type Steps = Judging & {
  /**
   * What shows that the key still gives access. `first use`: recording the first use of the value that was presented. `read`: reading the
   * key, whose scopes of today judge the request again.
   */
  readonly confirm: 'no' | 'first use' | 'read'
  /** Whether the last activity of the key is updated. */
  readonly touch: boolean
  /** Whether the usage of the key names the request, or the cluster that accepts the key. */
  readonly used: boolean
}

/**
 * Whether the scopes of the key judge a request, and whether the usage of the key names what they refuse. `if alive`: nothing has shown
 * yet that the key gives access.
 */
type Judging =
  | { readonly judge: true; readonly refused: 'no' | 'yes' | 'if alive' }
  | { readonly judge: false; readonly refused: 'no' }

/** Why a key is judged, and the steps of each purpose. */
export const PURPOSES = {
  /** A request to this API, in the authorizer. A dry run is a use as well: what it reads is real. A refused review is still passed on. */
  request: { judge: true, confirm: 'first use', touch: true, used: true, refused: 'yes' },
  /** The same for a path that is not served. No other scope would help, so a refusal says nothing about the scopes. */
  unserved: { judge: true, confirm: 'first use', touch: true, used: true, refused: 'no' },
  /** What a request does besides, which the authorizer cannot know: it has confirmed and touched the key. */
  further: { judge: true, confirm: 'no', touch: false, used: true, refused: 'no' },
  /** The token that an exchange gives. The write of its key has confirmed the key, and the token is its use. */
  exchange: { judge: true, confirm: 'no', touch: false, used: true, refused: 'no' },
  /** A cluster authenticates a key. There is no request, and TokenReview judges whether the cluster takes the key. */
  tokenReview: { judge: false, confirm: 'first use', touch: true, used: true, refused: 'no' },
  /** A cluster asks about a request of the key that its user's token was made with. Nobody has presented the key. */
  accessReview: { judge: true, confirm: 'read', touch: false, used: true, refused: 'if alive' },
  /** Somebody looks up their key. It is no request with it, so a pending value stays pending. */
  self: { judge: false, confirm: 'no', touch: true, used: false, refused: 'no' },
  /** Somebody asks what a key may do. */
  question: { judge: true, confirm: 'no', touch: false, used: false, refused: 'no' },
} as const satisfies Readonly<Record<string, Steps>>

export type Purpose = keyof typeof PURPOSES

/** What is asked: a request to this API or at a place, or without a request whether the place accepts the key. */
export interface Asked {
  attributes?: Attributes
  place?: Place
  /** False for what must write nothing. Reads confirm the key all the same. */
  isRecorded: boolean
}

/** A key that is judged, with what confirms it. */
export interface Subject {
  user: { key: UsedKey; chain: ScopeChain }
}

/** What `confirm` finds: the key as it is now, or why it gives no access. A key may give access that what was presented no longer does. */
export type Confirmed = { user: Subject['user']; ended?: undefined } | { user?: Subject['user']; ended: Ended }

/** How keys are confirmed and touched, and where their use is recorded. */
export interface Admitting<S extends Subject> {
  scopes: ScopeOptions & SpaceOptions
  usage: UsageRecorder
  /** Throws 503 or 507 if a first use could not be recorded. */
  confirm(subject: S): Promise<Confirmed>
  /** Never rejects. */
  touch(subject: S): Promise<void>
}

/** Returns how a key is judged that was confirmed before: by the authorizer, or by the write that has made it. */
export const confirmedBefore = ({
  scopes,
  usage,
}: Pick<Admitting<Subject>, 'scopes' | 'usage'>): Admitting<Subject> => ({
  scopes,
  usage,
  confirm: async ({ user }) => ({ user }),
  touch: async () => undefined,
})

export interface Verdict {
  decision: Decision
  /** The scopes that decided. */
  chain: ScopeChain
  /** Set if the key gives no access any more. */
  ended?: Ended
}

const NO_REQUEST: Decision = { allowed: true, reason: 'no request to judge' }

/** Judges, confirms and records, as the purpose demands. Rejects only if the key cannot be confirmed. */
export async function admit<S extends Subject>(
  subject: S,
  asked: Asked,
  purpose: Purpose,
  { scopes, usage, confirm, touch }: Admitting<S>,
): Promise<Verdict> {
  const steps = stepsOf(purpose, asked)
  const { attributes, place } = asked
  const judge = (chain: ScopeChain): Decision => {
    if (!steps.judge || attributes === undefined) return NO_REQUEST
    return place ? evaluateAt(chain, place, attributes, scopes) : evaluate(chain, attributes, scopes)
  }
  const refuse = async ({ key, chain }: Subject['user'], decision: Decision, isAlive?: () => Promise<boolean>) => {
    if (steps.refused !== 'no' && attributes) await usage.refused(key, chain, attributes, place, isAlive)
    return { decision, chain }
  }

  const { user } = subject
  const first = judge(user.chain)
  if (!first.allowed) {
    const isAlive = async () => (await confirm(subject)).user !== undefined
    return refuse(user, first, steps.refused === 'if alive' ? isAlive : undefined)
  }

  const { user: today, ended }: Confirmed = steps.confirm === 'no' ? { user } : await confirm(subject)
  if (ended) return { decision: deniedBy(ended), chain: user.chain, ended }
  const decision = today === user ? first : judge(today.chain)
  if (!decision.allowed) return refuse(today, decision)

  await Promise.all([
    steps.touch && touch(subject),
    steps.used && attributes && usage.used(today.key, today.chain, attributes, place),
    steps.used && !attributes && place && usage.accepted(today.key, place),
  ])
  return { decision, chain: today.chain }
}

const deniedBy = (ended: Ended): Decision => ({
  allowed: false,
  reason: 'dead' in ended ? ended.dead : 'unknown access key',
})

/** Returns the steps of a purpose. Of what is not recorded, those remain that write nothing. */
function stepsOf(purpose: Purpose, { isRecorded }: Asked): Steps {
  const steps: Steps = PURPOSES[purpose]
  if (isRecorded) return steps
  return { ...steps, confirm: steps.confirm === 'read' ? 'read' : 'no', touch: false, used: false, refused: 'no' }
}
