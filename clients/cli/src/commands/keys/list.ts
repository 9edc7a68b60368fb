/** `keyplane keys list`: shows access keys as a table. */

import { scopeWords } from '../../../../../lib/authorization/scopes/words.ts'
import type { AccessKey } from '../../../../core/src/objects.ts'
import { asKey, keyPath, stateOf } from '../../api/keys.ts'
import { listAll } from '../../api/lists.ts'
import { openSession } from '../../api/session.ts'
import { command } from '../../arguments/command.ts'
import type { Io } from '../../io/io.ts'
import { note } from '../../output/messages.ts'
import { printAs } from '../../output/print.ts'
import { table } from '../../output/table.ts'
import { ago, expiry } from '../../output/times.ts'

const HEADER = ['NAME', 'OWNER', 'MAY DO', 'LAST USED', 'EXPIRES', 'STATE']

export const keysList = command({
  name: ['keys', 'list'],
  summary: 'List the access keys that you may see',
  options: {
    owner: { type: 'string', value: 'OWNER', help: 'only keys of this owner: a user, team:TEAM or subject:SUBJECT' },
    selector: {
      type: 'string',
      short: 'l',
      value: 'SELECTOR',
      help: 'only keys with these labels, such as app=shop,env!=dev',
    },
  },
  formats: ['json', 'yaml', 'name'],
  examples: [
    { does: 'List all keys that you may see', run: 'keyplane keys list' },
    { does: 'List the keys of Alice with a label', run: 'keyplane keys list --owner alice -l app=shop' },
    { does: 'Print the names only, for scripts', run: 'keyplane keys list -o name' },
  ],
  async run({ values: { context, output, owner, selector } }, io) {
    const session = await openSession(io, { context })
    const list = await listAll(session, keyPath(), selector === undefined ? {} : { labelSelector: selector })
    const items = owner === undefined ? list.items : list.items.filter((one) => asKey(one).status?.owner === owner)
    if (output !== undefined) return printAs(output, { ...list, items }, io)
    if (items.length === 0) {
      note(
        io,
        owner === undefined && selector === undefined
          ? 'There are no access keys that you can see.'
          : 'No access key matches.',
      )
      return
    }
    const columns = io.isTerminal.out ? io.columns : Number.POSITIVE_INFINITY
    io.out(
      table(
        HEADER,
        items.map((one) => rowOf(asKey(one), io)),
        columns,
      ),
    )
  },
})

const rowOf = (key: AccessKey, io: Io): string[] => [
  key.metadata.name,
  key.status?.owner ?? '',
  scopeWords(key.spec?.scope),
  ago(key.status?.lastActivity, io.now()),
  expiry(key.status?.expirationTimestamp, io.now()),
  stateOf(key),
]
