/** `keyplane keys disable` and `keyplane keys enable`. */
import type { JsonObject } from '../../../../../lib/engine/meta/types.ts'
import { keyPath } from '../../api/keys.ts'
import { openSession } from '../../api/session.ts'
import { type Command, command } from '../../arguments/command.ts'
import { note } from '../../output/messages.ts'
import { printAs } from '../../output/print.ts'
import { forEachName } from './each.ts'

export const keysDisable = switching({
  word: 'disable',
  summary: 'Disable access keys: requests with them are refused until they are enabled again',
  disabled: true,
})

export const keysEnable = switching({
  word: 'enable',
  summary: 'Enable disabled access keys again',
  disabled: false,
})

function switching({ word, summary, disabled }: { word: string; summary: string; disabled: boolean }): Command {
  return command({
    name: ['keys', word],
    summary,
    positionals: [{ name: 'NAME', help: 'names of the keys', multiple: true }],
    options: {},
    formats: ['json', 'yaml', 'name'],
    examples: [
      { does: `${disabled ? 'Disable' : 'Enable'} a key`, run: `keyplane keys ${word} ci` },
      { does: `${disabled ? 'Disable' : 'Enable'} several`, run: `keyplane keys ${word} ci-7xk2p ci-m4wqz` },
    ],
    async run({ values: { context, output }, positionals }, io) {
      const session = await openSession(io, { context })
      const items: JsonObject[] = []
      try {
        await forEachName(positionals, io, async (name) => {
          items.push(await session.patch(keyPath(name), { spec: { disabled } }, { repeatable: true }))
          if (output === undefined) note(io, `${name} is ${word}d.`)
        })
      } finally {
        const [first] = items
        const all = positionals.length === 1 && first ? first : { apiVersion: 'v1', kind: 'List', items }
        if (output !== undefined && first) await printAs(output, all, io)
      }
    },
  })
}
