/** `keyplane keys delete`: deletes access keys, after a question. */
import { keyPath } from '../../api/keys.ts'
import { openSession } from '../../api/session.ts'
import { command } from '../../arguments/command.ts'
import { demandTerminal, yesOption } from '../../output/confirm.ts'
import { note } from '../../output/messages.ts'
import { plain } from '../../output/plain.ts'
import { askedKeys } from './asking.ts'
import { forEachName } from './each.ts'

export const keysDelete = command({
  name: ['keys', 'delete'],
  summary: 'Delete access keys: they are revoked immediately and cannot be restored',
  description:
    'It shows the keys and asks first. Without a terminal it needs --yes. A key that may be needed again can be disabled instead: keyplane keys disable NAME.',
  positionals: [{ name: 'NAME', help: 'names of the keys', multiple: true, names: 'keys' }],
  options: yesOption,
  formats: ['name'],
  examples: [
    { does: 'Delete a key, after a question', run: 'keyplane keys delete ci' },
    {
      does: 'Delete all keys with a label, without a question',
      run: 'keyplane keys list -l app=old -o name | xargs keyplane keys delete --yes',
    },
  ],
  async run({ values: { context, output, yes }, positionals }, io) {
    if (!yes) demandTerminal(io)
    const session = await openSession(io, { context })
    const names = [...new Set(positionals)]
    const remove = (name: string, uid: string | undefined, dryRun = false) =>
      session.delete(keyPath(name), { dryRun }, uid === undefined ? undefined : { preconditions: { uid } })
    const uids = yes
      ? new Map<string, string>()
      : await askedKeys(io, session, names, {
          attempt: ({ metadata: { name, uid } }) => remove(name, uid, true),
          question: (keys) => `Delete ${keys} permanently?`,
        })
    if (uids === undefined) return
    await forEachName(names, io, async (name) => {
      await remove(name, uids.get(name))
      if (output === 'name') io.out(`${plain(name)}\n`)
      else note(io, `${name} is deleted.`)
    })
  },
})
