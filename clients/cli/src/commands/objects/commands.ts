/** The commands that list, show and delete objects of a kind: trusts, identity providers, virtual clusters. */
import { listAll } from '../../api/lists.ts'
import { openSession } from '../../api/session.ts'
import { type Command, command } from '../../arguments/command.ts'
import { selectorOf, selectorOptions } from '../../arguments/selector.ts'
import { agreed, demandTerminal, yesOption } from '../../output/confirm.ts'
import { note } from '../../output/messages.ts'
import { plain } from '../../output/plain.ts'
import { printAs } from '../../output/print.ts'
import { facts, outputTable } from '../../output/table.ts'
import { ago, withTime } from '../../output/times.ts'
import { showPage, webOption } from '../../output/web.ts'
import { forEachName } from '../keys/each.ts'
import { asShown, type Kind, prefixFor } from './kinds.ts'

/** Returns the commands of a kind. */
export const commandsOf = (kind: Kind): Command[] => [listOf(kind), showOf(kind), deleteOf(kind)]

const example = ({ placeholder }: Kind): string => (placeholder === 'NAME' ? 'shop' : 'shop/dev')

const listOf = (kind: Kind): Command =>
  command({
    name: [kind.word, 'list'],
    summary: `List the ${kind.many} that you may see`,
    options: selectorOptions(kind.many, 'team=shop,env!=dev'),
    formats: ['json', 'yaml', 'name'],
    examples: [{ does: `List all ${kind.many} that you may see`, run: `keyplane ${kind.word} list` }],
    async run({ values }, io) {
      const { context, output } = values
      const selector = selectorOf(values)
      const session = await openSession(io, { context })
      const query = selector === undefined ? {} : { labelSelector: selector }
      const list = await listAll(session, await kind.list(session), query)
      const prefix = await prefixFor(kind, session)
      const shown = list.items.map(asShown)
      if (output === 'name') return io.out(shown.map((one) => `${plain(kind.nameOf(one, prefix))}\n`).join(''))
      if (output !== undefined) return printAs(output, list, io)
      if (shown.length === 0)
        return note(io, selector === undefined ? `There are no ${kind.many} that you can see.` : 'None matches.')
      const rows = shown.map((one) => [kind.nameOf(one, prefix), ...kind.columns.map(([, value]) => value(one))])
      io.out(outputTable(['NAME', ...kind.columns.map(([header]) => header)], rows, io))
    },
  })

const showOf = (kind: Kind): Command =>
  command({
    name: [kind.word, 'show'],
    summary: `Show a${/^[aeiou]/.test(kind.one) ? 'n' : ''} ${kind.one}`,
    positionals: [{ name: kind.placeholder, help: `name of the ${kind.one}`, names: kind.names }],
    options: webOption,
    formats: ['json', 'yaml', 'name'],
    examples: [
      { does: `Show the ${kind.one} ${example(kind)}`, run: `keyplane ${kind.word} show ${example(kind)}` },
      { does: 'Show all its fields', run: `keyplane ${kind.word} show ${example(kind)} -o yaml` },
    ],
    async run({ values: { context, output, web }, positionals: [name = ''] }, io) {
      const session = await openSession(io, { context })
      if (web) return showPage(io, session.server, await kind.page(session, name))
      const object = await session.get(await kind.path(session, name))
      if (output !== undefined) return printAs(output, object, io)
      const shown = asShown(object)
      const { labels = {}, creationTimestamp } = shown.metadata
      io.out(
        facts([
          ['Name', kind.nameOf(shown, await prefixFor(kind, session))],
          ...kind.facts(shown),
          [
            'Labels',
            Object.entries(labels)
              .map(([label, value]) => `${label}=${value}`)
              .join(', '),
          ],
          ['Created', withTime(ago(creationTimestamp, io.now()), creationTimestamp)],
        ]),
      )
    },
  })

const deleteOf = (kind: Kind): Command =>
  command({
    name: [kind.word, 'delete'],
    summary: `Delete ${kind.many}, after a question`,
    description: `${kind.ends} Without a terminal it needs --yes.`,
    positionals: [{ name: kind.placeholder, help: `names of the ${kind.many}`, multiple: true, names: kind.names }],
    options: yesOption,
    formats: ['name'],
    examples: [
      {
        does: `Delete a${/^[aeiou]/.test(kind.one) ? 'n' : ''} ${kind.one}`,
        run: `keyplane ${kind.word} delete ${example(kind)}`,
      },
    ],
    async run({ values: { context, output, yes }, positionals }, io) {
      if (!yes) demandTerminal(io)
      const session = await openSession(io, { context })
      const names = [...new Set(positionals)]
      const uids = new Map<string, string | undefined>()
      if (!yes) {
        for (const name of names) {
          const path = await kind.path(session, name)
          const { uid } = asShown(await session.get(path)).metadata
          uids.set(name, uid)
          await session.delete(path, { dryRun: true }, { preconditions: { ...(uid !== undefined && { uid }) } })
        }
        const what = names.length === 1 ? `the ${kind.one} ${names[0]}` : `these ${names.length} ${kind.many}`
        if (!(await agreed(io, `${kind.ends}\nDelete ${what}?`))) return
      }
      await forEachName(names, io, async (name) => {
        const uid = uids.get(name)
        await session.delete(
          await kind.path(session, name),
          {},
          uid === undefined ? undefined : { preconditions: { uid } },
        )
        if (output === 'name') io.out(`${plain(name)}\n`)
        else note(io, `${name} is deleted.`)
      })
    },
  })
