/** `keyplane keys list`: shows access keys as a table. */

import { scopeWords } from '../../../../../lib/access/scopes/words.ts'
import { keySelector } from '../../../../core/src/keyselector.ts'
import type { AccessKey } from '../../../../core/src/objects.ts'
import { asKey, keyPath, stateOf } from '../../api/keys.ts'
import { listAll } from '../../api/lists.ts'
import { openSession } from '../../api/session.ts'
import { command } from '../../arguments/command.ts'
import { isUid } from '../../arguments/uid.ts'
import type { Io } from '../../io/io.ts'
import { note } from '../../output/messages.ts'
import { printAs } from '../../output/print.ts'
import { outputTable } from '../../output/table.ts'
import { ago, expiry } from '../../output/times.ts'

const HEADER = ['NAME', 'OWNER', 'MAY DO', 'LAST USED', 'EXPIRES', 'STATE']

export const keysList = command({
  name: ['keys', 'list'],
  summary: 'List the access keys that you may see',
  options: {
    owner: { type: 'string', value: 'OWNER', help: 'only keys of this owner: a user, team:TEAM or subject:SUBJECT' },
    'name-prefix': { type: 'string', value: 'PREFIX', help: 'only keys whose names begin with this text, such as ci-' },
    'made-with': {
      type: 'string',
      value: 'NAME',
      help: 'only keys that the key with this name or uid made, even if it is deleted',
    },
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
    {
      does: 'List the keys of a team that begin with ci-',
      run: 'keyplane keys list --owner team:shop --name-prefix ci-',
    },
    { does: 'List the keys that the key ci made', run: 'keyplane keys list --made-with ci' },
    { does: 'Print the names only, for scripts', run: 'keyplane keys list -o name' },
  ],
  async run({ values: { context, output, owner, selector, 'made-with': maker, 'name-prefix': namePrefix } }, io) {
    const session = await openSession(io, { context })
    const fieldSelector = keySelector({ owner, [isUid(maker ?? '') ? 'makerUid' : 'maker']: maker })
    const query = {
      ...(fieldSelector !== '' && { fieldSelector }),
      ...(namePrefix !== undefined && { namePrefix }),
      ...(selector !== undefined && { labelSelector: selector }),
    }
    const list = await listAll(session, keyPath(), query)
    // A server of release 0.1.0 ignores the prefix. What is printed may be deleted.
    const items = list.items.filter((one) => asKey(one).metadata.name.startsWith(namePrefix ?? ''))
    if (output !== undefined) return printAs(output, { ...list, items }, io)
    if (items.length === 0) {
      note(
        io,
        Object.keys(query).length === 0 ? 'There are no access keys that you can see.' : 'No access key matches.',
      )
      return
    }
    io.out(
      outputTable(
        HEADER,
        items.map((one) => rowOf(asKey(one), io)),
        io,
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
