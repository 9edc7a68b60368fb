/** `keyplane keys list`: shows access keys as a table. */

import { scopeWords } from '../../../../../lib/access/scopes/words.ts'
import type { JsonObject } from '../../../../../lib/engine/meta/types.ts'
import { keySelector } from '../../../../core/src/keyselector.ts'
import type { AccessKey } from '../../../../core/src/objects.ts'
import { isSession } from '../../../../core/src/sessions.ts'
import { asKey, keyPath, stateOf } from '../../api/keys.ts'
import { listAll } from '../../api/lists.ts'
import { openSession, type Session } from '../../api/session.ts'
import { StatusError } from '../../api/status.ts'
import { command } from '../../arguments/command.ts'
import { selectorOf, selectorOptions } from '../../arguments/selector.ts'
import { isUid } from '../../arguments/uid.ts'
import type { Io } from '../../io/io.ts'
import { note } from '../../output/messages.ts'
import { printAs } from '../../output/print.ts'
import { outputTable } from '../../output/table.ts'
import { ago, expiry } from '../../output/times.ts'
import { filterOptions, keyFilter, wholeEnd } from './filter.ts'

const HEADER = ['NAME', 'OWNER', 'MAY DO', 'LAST USED', 'EXPIRES', 'STATE']
const WIDE = ['ENDING', 'CREATED', 'MADE WITH', 'LABELS', 'DISPLAY NAME']

export const keysList = command({
  name: ['keys', 'list'],
  summary: 'List the access keys that you may see',
  options: {
    ...filterOptions,
    owner: { type: 'string', value: 'OWNER', help: 'only keys of this owner: a user, team:TEAM or subject:SUBJECT' },
    'name-prefix': { type: 'string', value: 'PREFIX', help: 'only keys whose names begin with this text, such as ci-' },
    'made-with': {
      type: 'string',
      value: 'NAME',
      names: 'keys',
      help: 'only keys that the key with this name or uid made, even if it is deleted',
    },
    ...selectorOptions('keys', 'app=shop,env!=dev'),
  },
  formats: ['json', 'yaml', 'name', 'wide'],
  examples: [
    { does: 'List all keys that you may see', run: 'keyplane keys list' },
    { does: 'Find the key whose value ends in these characters', run: 'keyplane keys list --ending 3jcxZS' },
    {
      does: 'List what ends within a week, the first one first',
      run: 'keyplane keys list --expires-within 7d --sort expires',
    },
    {
      does: 'List active keys that nobody used for 90 days',
      run: 'keyplane keys list --state active --unused-since 90d',
    },
    { does: 'List the keys of Alice with a label', run: 'keyplane keys list --owner alice -l app=shop' },
    {
      does: 'List the keys of a team that begin with ci-',
      run: 'keyplane keys list --owner team:shop --name-prefix ci-',
    },
    { does: 'List the keys that the key ci made', run: 'keyplane keys list --made-with ci' },
    { does: 'Print the names only, for scripts', run: 'keyplane keys list -o name' },
  ],
  async run({ values }, io) {
    const { context, output, owner, ending, 'made-with': maker, 'name-prefix': namePrefix } = values
    const filter = keyFilter(values, io.now())
    const selector = selectorOf(values)
    const session = await openSession(io, { context })
    const selected = { owner, [isUid(maker ?? '') ? 'makerUid' : 'maker']: maker }
    const fieldSelector = keySelector(selected)
    const query = {
      ...(fieldSelector !== '' && { fieldSelector }),
      ...(namePrefix !== undefined && { namePrefix }),
      ...(selector !== undefined && { labelSelector: selector }),
    }
    const found = await withEnd(
      session,
      query,
      keySelector({ ...selected, ending: wholeEnd(ending) }),
      wholeEnd(ending),
    )
    const list = found ?? (await listAll(session, keyPath(), query))
    // A server of release 0.1.0 ignores the prefix. What is printed may be deleted.
    const all = list.items.map(asKey).filter(({ metadata }) => metadata.name.startsWith(namePrefix ?? ''))
    const keys = filter(all, found !== undefined)
    if (keys.length === 0 && ending !== undefined) noteHintless(all, wholeEnd(ending) !== undefined, io)
    if (output !== undefined && output !== 'wide')
      return printAs(output, { ...list, items: keys as unknown as JsonObject[] }, io)
    if (keys.length === 0)
      return note(io, all.length === 0 && Object.keys(query).length === 0 ? NONE : 'No access key matches.')
    const isWide = output === 'wide'
    const rows = keys.map((key) => [...rowOf(key, io), ...(isWide ? wideOf(key, io) : [])])
    io.out(outputTable(isWide ? [...HEADER, ...WIDE] : HEADER, rows, io))
  },
})

const NONE = 'There are no access keys that you can see.'

/**
 * Returns the keys whose current value ends so, as the server finds them: also those that were never rotated, which do not show it. Returns
 * undefined if there are none, and for a server of release 0.1.0, which does not know the selector.
 */
async function withEnd(session: Session, query: object, fieldSelector: string, end: string | undefined) {
  if (end === undefined) return undefined
  const list = await listAll(session, keyPath(), { ...query, fieldSelector }).catch((error: unknown) => {
    if (!(error instanceof StatusError) || error.code !== 400) throw error
  })
  return list?.items.length ? list : undefined
}

/** Says which keys may have the ending although none is known to have it. */
function noteHintless(keys: readonly AccessKey[], isWhole: boolean, io: Io): void {
  const hintless = keys.filter(({ status }) => status?.hint === undefined && !status?.values?.length).length
  if (hintless === 0) return
  const more = isWhole
    ? 'and the server may not know it: those of other formats have none. If you have the whole value: keyplane whose'
    : 'as they were never rotated. Give all six characters, and the server looks for them'
  note(io, `${hintless} of ${keys.length} keys do not show how their values end, ${more}`)
}

const rowOf = (key: AccessKey, io: Io): string[] => [
  key.metadata.name,
  key.status?.owner ?? '',
  scopeWords(key.spec?.scope),
  ago(key.status?.lastActivity, io.now()),
  expiry(key.status?.expirationTimestamp, io.now()),
  `${stateOf(key)}${isSession(key) ? ', for one command' : ''}`,
]

const wideOf = ({ metadata, spec, status }: AccessKey, io: Io): string[] => [
  status?.hint === undefined ? '' : `…${status.hint}`,
  ago(metadata.creationTimestamp, io.now()),
  status?.madeWith?.name ?? status?.madeWith?.uid ?? '',
  labelWords(metadata.labels),
  spec?.displayName ?? '',
]

/** Returns labels as selectors have them. */
export const labelWords = (labels: Readonly<Record<string, string>> = {}): string =>
  Object.entries(labels)
    .map(([name, value]) => `${name}=${value}`)
    .join(',')
