/** `keyplane keys delete`: deletes access keys, after a question in a terminal. */
import type { AccessKey } from '../../../../core/src/objects.ts'
import { asKey, keyPath } from '../../api/keys.ts'
import { readSelf } from '../../api/self.ts'
import { openSession, type Session } from '../../api/session.ts'
import { command } from '../../arguments/command.ts'
import { CliError } from '../../io/errors.ts'
import type { Io } from '../../io/io.ts'
import { canAsk, confirm } from '../../output/confirm.ts'
import { note } from '../../output/messages.ts'
import { plain } from '../../output/plain.ts'
import { ago } from '../../output/times.ts'
import { forEachName } from './each.ts'

export const keysDelete = command({
  name: ['keys', 'delete'],
  summary: 'Delete access keys: they are revoked immediately and cannot be restored',
  description:
    'In a terminal it shows the keys and asks first. A key that may be needed again can be disabled instead: keyplane keys disable NAME.',
  positionals: [{ name: 'NAME', help: 'names of the keys', multiple: true }],
  options: { yes: { type: 'boolean', short: 'y', help: 'do not ask' } },
  formats: ['name'],
  examples: [
    { does: 'Delete a key', run: 'keyplane keys delete ci' },
    {
      does: 'Delete all keys with a label, without a question',
      run: 'keyplane keys list -l app=old -o name | xargs keyplane keys delete --yes',
    },
  ],
  async run({ values: { context, output, yes }, positionals }, io) {
    const session = await openSession(io, { context })
    const names = [...new Set(positionals)]
    const uids = !yes && canAsk(io) ? await asked(names, session, io) : new Map<string, string>()
    await forEachName(names, io, async (name) => {
      const uid = uids.get(name)
      const options = uid === undefined ? undefined : { preconditions: { uid } }
      await session.delete(keyPath(name), {}, options)
      if (output === 'name') io.out(`${plain(name)}\n`)
      else note(io, `${name} is deleted.`)
    })
  },
})

/** Shows the keys and asks. Returns their uids, so that a key that took a name meanwhile is not deleted. */
async function asked(names: readonly string[], session: Session, io: Io): Promise<Map<string, string>> {
  const own = (await readSelf(session)).status.uid
  const keys: AccessKey[] = []
  for (const name of names) keys.push(asKey(await session.get(keyPath(name))))
  for (const { metadata, spec, status } of keys) {
    const words = [`of ${status?.owner ?? 'nobody'}`, `last used ${ago(status?.lastActivity, io.now())}`]
    if (spec?.displayName) words.unshift(`"${spec.displayName}"`)
    if (metadata.uid === own) words.push('the key that you use now')
    io.err(`  ${plain(`${metadata.name}: ${words.join(', ')}`)}\n`)
  }
  const question = keys.length === 1 ? 'Delete this key permanently?' : `Delete these ${keys.length} keys permanently?`
  if (!(await confirm(io, question))) throw new CliError('Nothing is deleted.')
  return new Map(keys.map(({ metadata }) => [metadata.name, metadata.uid ?? '']))
}
