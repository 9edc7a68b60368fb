/** `keyplane keys show`: shows one access key. */

import { scopeWords } from '../../../../../lib/access/scopes/words.ts'
import { DISABLED_REASON, keyTexts } from '../../../../../lib/keys/ownedaccesskey.texts.ts'
import { duration } from '../../../../core/src/durations.ts'
import { actorWords } from '../../../../core/src/historywords.ts'
import type { AccessKey, KeyHistory } from '../../../../core/src/objects.ts'
import { scopeDiff } from '../../../../core/src/scopechange.ts'
import { asKey, keyPath, stateOf } from '../../api/keys.ts'
import { openSession, type Session } from '../../api/session.ts'
import { StatusError } from '../../api/status.ts'
import { command } from '../../arguments/command.ts'
import type { Io } from '../../io/io.ts'
import { printAs } from '../../output/print.ts'
import { facts } from '../../output/table.ts'
import { ago, expiry, withTime } from '../../output/times.ts'
import { showPage, webOption } from '../../output/web.ts'

export const keysShow = command({
  name: ['keys', 'show'],
  summary: 'Show an access key: what it may do, when it was used, and when it ends',
  positionals: [{ name: 'NAME', help: 'name of the key', names: 'keys' }],
  options: webOption,
  formats: ['json', 'yaml', 'name'],
  examples: [
    { does: 'Show a key', run: 'keyplane keys show ci' },
    { does: 'Show all its fields', run: 'keyplane keys show ci -o yaml' },
    { does: 'Open its page of the console', run: 'keyplane keys show ci --web' },
  ],
  async run({ values: { context, output, web }, positionals: [name = ''] }, io) {
    const path = keyPath(name)
    const session = await openSession(io, { context })
    if (web) return showPage(io, session.server, ['keys', name])
    const object = await session.get(path)
    if (output !== undefined) return printAs(output, object, io)
    const key = asKey(object)
    const ended = key.spec?.disabled ? await endOf(session, key, io) : []
    io.out(
      facts([
        ...factsOf(key, io),
        ...ended,
        ...rulesOf(key),
        ...scopesOf(key),
        ...valuesOf(key, io),
        ...sourcesOf(key, io),
      ]),
    )
  },
})

/** Returns why a key is disabled, who has disabled it, and when, as far as the reader may know. */
async function endOf(session: Session, { metadata }: AccessKey, io: Io): Promise<[string, string | undefined][]> {
  const reason: [string, string | undefined] = ['Disabled because', metadata.annotations?.[DISABLED_REASON]]
  const history = await session.get(`${keyPath(metadata.name)}/history`).catch((error: unknown) => {
    if (!(error instanceof StatusError)) throw error
  })
  const { events = [] } = (history?.status ?? {}) as KeyHistory
  const end = events.filter(({ type }) => type === 'revoked').toSorted((a, b) => (a.time < b.time ? 1 : -1))[0]
  return [
    reason,
    ['Disabled by', end && `${actorWords(end) || 'nobody'}, ${withTime(ago(end.time, io.now()), end.time)}`],
  ]
}

/** Returns the entries of rules, which the words for a scope only count. */
const rulesOf = ({ spec }: AccessKey): [string, string][] =>
  scopeDiff({}, { rules: spec?.scope?.rules ?? [] }).map((line) => ['Rule', line.replace(/^\+ (rules: )?/, '')])

/** Returns what a person wants to know of a key. */
export function factsOf({ metadata, spec = {}, status = {} }: AccessKey, io: Io): [string, string | undefined][] {
  const now = io.now()
  const sliding = spec.ttlAfterLastActivity && spec.ttl ? `, ${duration(spec.ttl)} after its last use` : ''
  return [
    ['Name', metadata.name],
    ...keyTexts.map(({ name, title }): [string, string | undefined] => [title, spec[name]]),
    ['Owner', status.owner],
    ['Type', spec.type],
    ['May do', scopeWords(spec.scope)],
    ['Used from', spec.sourceCIDRs?.length ? `${spec.sourceCIDRs.join(', ')} only` : undefined],
    ['Groups', spec.groups?.join(', ')],
    [
      'Labels',
      Object.entries(metadata.labels ?? {})
        .map(([name, value]) => `${name}=${value}`)
        .join(', '),
    ],
    ['State', stateOf({ metadata, spec, status })],
    ['Value ends in', status.hint],
    ['Clusters ask with it', status.mayReview ? 'yes: without it they refuse all users of keyplane' : undefined],
    ...leakOf({ metadata, spec, status }, now),
    ['Created', withTime(ago(metadata.creationTimestamp, now), metadata.creationTimestamp)],
    ['Last used', withTime(ago(status.lastActivity, now), status.lastActivity)],
    ['Expires', `${withTime(expiry(status.expirationTimestamp, now), status.expirationTimestamp)}${sliding}`],
    ['Rotated', status.lastRotation && withTime(ago(status.lastRotation, now), status.lastRotation)],
  ]
}

/** Returns when and where the value was reported as leaked, and what to do. */
function leakOf({ metadata: { name }, spec, status }: AccessKey, now: Date): [string, string | undefined][] {
  const { leak, values } = status ?? {}
  if (leak === undefined) return []
  const steps = [
    ...(values?.length ? [] : [`keyplane rotate ${name}`]),
    ...(spec.disabled ? [`keyplane keys enable ${name}`] : []),
  ]
  return [
    ['Leak reported', `${withTime(ago(leak.reported, now), leak.reported)}${leak.url ? `, found at ${leak.url}` : ''}`],
    ['To use it again', steps.length > 0 ? steps.join(', then ') : 'store its new value'],
  ]
}

/** Returns which scope can be put back, and which can be dropped. */
export function scopesOf({ status }: AccessKey): [string, string | undefined][] {
  const { formerScope: former, addedScopes } = status ?? {}
  return [
    ['Former scope', former && `${scopeWords(former.scope)}, kept until ${former.until}`],
    ...(addedScopes ?? []).map((scope): [string, string] => ['Also limited to', scopeWords(scope)]),
  ]
}

const valuesOf = ({ status }: AccessKey, io: Io): [string, string][] =>
  (status?.values ?? []).map(({ hint, state = '', lastActivity, until }) => {
    const parts = [
      lastActivity === undefined ? 'never used' : `used ${ago(lastActivity, io.now())}`,
      ...(until === undefined ? [] : [`ends ${withTime(expiry(until, io.now()), until)}`]),
    ]
    return [`${state} value`, `${hint === undefined ? '' : `…${hint}, `}${parts.join(', ')}`]
  })

const sourcesOf = ({ status }: AccessKey, io: Io): [string, string][] =>
  (status?.lastSources ?? []).map(({ ip = '', userAgent = '', lastSeen }) => [
    'Last source',
    `${ip}, ${ago(lastSeen, io.now())}${userAgent === '' ? '' : `, by ${userAgent}`}`,
  ])
