/** `keyplane keys show`: shows one access key. */
import { keyTexts } from '../../../../../lib/apis/management/v1/ownedaccesskey.texts.ts'
import { scopeWords } from '../../../../../lib/authorization/scopes/words.ts'
import { duration } from '../../../../core/src/durations.ts'
import type { AccessKey } from '../../../../core/src/objects.ts'
import { asKey, keyPath, stateOf } from '../../api/keys.ts'
import { openSession } from '../../api/session.ts'
import { command } from '../../arguments/command.ts'
import type { Io } from '../../io/io.ts'
import { printAs } from '../../output/print.ts'
import { facts } from '../../output/table.ts'
import { ago, expiry, withTime } from '../../output/times.ts'

export const keysShow = command({
  name: ['keys', 'show'],
  summary: 'Show an access key: what it may do, when it was used, and when it ends',
  positionals: [{ name: 'NAME', help: 'name of the key' }],
  options: {},
  formats: ['json', 'yaml', 'name'],
  examples: [
    { does: 'Show a key', run: 'keyplane keys show ci' },
    { does: 'Show all its fields', run: 'keyplane keys show ci -o yaml' },
  ],
  async run({ values: { context, output }, positionals: [name = ''] }, io) {
    const session = await openSession(io, { context })
    const object = await session.get(keyPath(name))
    if (output !== undefined) return printAs(output, object, io)
    const key = asKey(object)
    io.out(facts(factsOf(key, io)))
    const lines = [...valuesOf(key, io), ...sourcesOf(key, io)]
    if (lines.length > 0) io.out(`\n${lines.join('')}`)
  },
})

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
    ['Created', withTime(ago(metadata.creationTimestamp, now), metadata.creationTimestamp)],
    ['Last used', withTime(ago(status.lastActivity, now), status.lastActivity)],
    ['Expires', `${withTime(expiry(status.expirationTimestamp, now), status.expirationTimestamp)}${sliding}`],
    ['Rotated', status.lastRotation && withTime(ago(status.lastRotation, now), status.lastRotation)],
  ]
}

const valuesOf = ({ status }: AccessKey, io: Io): string[] =>
  (status?.values ?? []).map(({ hint, state = '', lastActivity, until }) => {
    const parts = [
      `used ${ago(lastActivity, io.now())}`,
      ...(until === undefined ? [] : [`ends ${withTime(expiry(until, io.now()), until)}`]),
    ]
    return facts([[`${state} value`, `${hint === undefined ? '' : `…${hint}, `}${parts.join(', ')}`]])
  })

const sourcesOf = ({ status }: AccessKey, io: Io): string[] =>
  (status?.lastSources ?? []).map(({ ip = '', userAgent = '', lastSeen }) =>
    facts([['Used from', `${ip}, ${ago(lastSeen, io.now())}${userAgent === '' ? '' : `, by ${userAgent}`}`]]),
  )
