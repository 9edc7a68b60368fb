/** `keyplane keys disable`: refuses access keys until they are enabled again, after a question. */
import { DISABLED_REASON } from '../../../../../lib/keys/ownedaccesskey.texts.ts'
import { keyPath } from '../../api/keys.ts'
import { openSession } from '../../api/session.ts'
import { command } from '../../arguments/command.ts'
import { demandTerminal, yesOption } from '../../output/confirm.ts'
import { askedKeys } from './asking.ts'
import { changeKeys } from './each.ts'

export const keysDisable = command({
  name: ['keys', 'disable'],
  summary: 'Disable access keys: requests with them are refused until they are enabled again',
  description: 'It shows the keys and asks first. Without a terminal it needs --yes.',
  positionals: [{ name: 'NAME', help: 'names of the keys', multiple: true, names: 'keys' }],
  options: {
    reason: { type: 'string', value: 'TEXT', help: 'why; everyone who may read the key sees it' },
    ...yesOption,
  },
  formats: ['json', 'yaml', 'name'],
  examples: [
    { does: 'Disable a key, after a question', run: 'keyplane keys disable ci --reason "not used any more"' },
    { does: 'Disable several without a question', run: 'keyplane keys disable ci-7xk2p ci-m4wqz --yes' },
  ],
  async run({ values: { context, output, reason, yes }, positionals }, io) {
    if (!yes) demandTerminal(io)
    const session = await openSession(io, { context })
    // What was said of an earlier time is gone.
    const annotations = { [DISABLED_REASON]: reason ?? null }
    const disable = (name: string, uid: string | undefined, dryRun = false) => {
      const body = { metadata: { ...(uid !== undefined && { uid }), annotations }, spec: { disabled: true } }
      return session.patch(keyPath(name), body, { dryRun, repeatable: true })
    }
    const uids = yes
      ? new Map<string, string>()
      : await askedKeys(io, session, positionals, {
          attempt: ({ metadata: { name, uid } }) => disable(name, uid, true),
          question: (keys) => `Disable ${keys}?`,
        })
    if (uids === undefined) return
    await changeKeys(positionals, io, { output, done: 'is disabled' }, (name) => disable(name, uids.get(name)))
  },
})
