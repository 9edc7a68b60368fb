/** `keyplane keys enable`: allows disabled access keys again. */
import { DISABLED_REASON } from '../../../../../lib/keys/ownedaccesskey.texts.ts'
import { keyPath } from '../../api/keys.ts'
import { openSession } from '../../api/session.ts'
import { command } from '../../arguments/command.ts'
import { changeKeys } from './each.ts'

/** The reason for which a key was disabled is gone with that. */
const ENABLED = { metadata: { annotations: { [DISABLED_REASON]: null } }, spec: { disabled: false } }

export const keysEnable = command({
  name: ['keys', 'enable'],
  summary: 'Enable disabled access keys again',
  positionals: [{ name: 'NAME', help: 'names of the keys', multiple: true, names: 'keys' }],
  options: {},
  formats: ['json', 'yaml', 'name'],
  examples: [
    { does: 'Enable a key', run: 'keyplane keys enable ci' },
    { does: 'Enable several', run: 'keyplane keys enable ci-7xk2p ci-m4wqz' },
  ],
  async run({ values: { context, output }, positionals }, io) {
    const session = await openSession(io, { context })
    await changeKeys(positionals, io, { output, done: 'is enabled' }, (name) =>
      session.patch(keyPath(name), ENABLED, { repeatable: true }),
    )
  },
})
