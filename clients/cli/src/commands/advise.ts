/** `keyplane advise`: shows what a key does not need, sets a smaller scope, and goes back. */

import { scopeWords } from '../../../../lib/access/scopes/words.ts'
import { dumpYaml } from '../../../../lib/engine/meta/encoding/yaml.ts'
import type { JsonObject, JsonValue } from '../../../../lib/engine/meta/types.ts'
import { pastedPatch } from '../../../core/src/scopechange.ts'
import { shellWords } from '../../../core/src/shellwords.ts'
import { adviceText, UNNEEDED_COLUMNS, unneededRow } from '../advice/advicetexts.ts'
import { readEveryKey } from '../advice/everykey.ts'
import { applyAdvice, dropAdded, type Target, undo } from '../advice/scopesteps.ts'
import { asKey, demandName, trustPath } from '../api/keys.ts'
import { openSession, type Session } from '../api/session.ts'
import { readUsedKey, type UsedKey } from '../api/usage.ts'
import { type CommonValues, command, type Values } from '../arguments/command.ts'
import { UsageError } from '../io/errors.ts'
import type { Io } from '../io/io.ts'
import { demandTerminal, yesOption } from '../output/confirm.ts'
import { note } from '../output/messages.ts'
import { plainLines } from '../output/plain.ts'
import { printAs } from '../output/print.ts'
import { facts, outputTable } from '../output/table.ts'
import { scopesOf } from './keys/show.ts'

const options = {
  all: {
    type: 'boolean',
    help: 'one line for every key that you may see, beginning with the keys that need the least of their scope',
  },
  exchanged: { type: 'boolean', help: 'with --all: also the keys of exchanges, which live for a day at most' },
  patch: { type: 'boolean', help: 'print the change as a command of kubectl' },
  apply: { type: 'boolean', help: 'give the key the advised scope' },
  undo: {
    type: 'boolean',
    help: 'put back the scope before the last change, which the server keeps for 30 days',
  },
  'drop-added': { type: 'boolean', help: 'drop the scopes that changes with scoped keys have added' },
  ...yesOption,
  trust: {
    type: 'boolean',
    help: 'NAME is the name of a trust (federated identity credential), for which there is no advice',
  },
} as const

type AdviseValues = Values<typeof options> & CommonValues

export const advise = command({
  name: ['advise'],
  summary: 'Show what a key does not need, and give it a smaller scope',
  description: [
    'Without options, the command shows a smaller scope that still allows everything that the key did. It also shows what is unknown, and other ways to improve the key. It changes nothing.',
    '--apply, --undo and --drop-added change the key. They first let the server check the change, show what it removes and adds, and ask for confirmation. Without a terminal they need --yes. If somebody else changes the key in the meantime, they change nothing.',
  ].join('\n\n'),
  positionals: [
    { name: 'NAME', help: 'name of the access key, or of the trust; none with --all', optional: true, names: 'keys' },
  ],
  options,
  formats: ['json', 'yaml'],
  examples: [
    { does: 'Show what a key does not need', run: 'keyplane advise ci' },
    { does: 'Show which keys need the least of their scope', run: 'keyplane advise --all' },
    { does: 'Give it the smaller scope', run: 'keyplane advise ci --apply' },
    { does: 'Put the former scope back', run: 'keyplane advise ci --undo' },
    { does: 'Put the former scope of a trust back', run: 'keyplane advise deploy --trust --undo' },
  ],
  async run({ values, positionals: [name] }, io) {
    const step = stepOf(values, name)
    if (name === undefined) {
      if (!values.all) throw new UsageError('Which key? Give its name, or --all.', USAGE)
      return adviseAll(values, io)
    }
    demandName(name, values.trust ? 'a trust' : undefined)
    if (step !== undefined && !values.yes)
      demandTerminal(
        io,
        `Look first with "keyplane advise ${name}${values.trust ? ' --trust' : ''}", then repeat it with --yes.`,
      )
    const session = await openSession(io, { context: values.context })
    if (step === undefined && values.trust) return showTrust(session, name, values, io)
    if (step === undefined) return show(await readUsedKey(session, name), values, io)
    const changed = await step({ io, session, name, isTrust: values.trust, yes: values.yes })
    if (changed !== undefined && values.output !== undefined) await printAs(values.output, changed, io)
  },
})

const USAGE = 'Run "keyplane advise --help" for its options and examples.'

/** Returns the change that the options ask for; undefined if they ask for none. Throws a UsageError if they contradict each other. */
function stepOf(
  values: AdviseValues,
  name: string | undefined,
): ((target: Target) => Promise<JsonObject | undefined>) | undefined {
  const { all, exchanged, patch, apply, yes, trust, output, 'drop-added': drop } = values
  const ways = [
    ...(all ? ['--all'] : []),
    ...(patch ? ['--patch'] : []),
    ...(apply ? ['--apply'] : []),
    ...(values.undo ? ['--undo'] : []),
    ...(drop ? ['--drop-added'] : []),
  ]
  if (ways.length > 1) throw new UsageError(`${ways.join(' and ')} exclude each other.`, USAGE)
  if (all && name !== undefined) throw new UsageError('--all is about every key: give no name with it.', USAGE)
  if (patch && output !== undefined) throw new UsageError('--patch and -o exclude each other.', USAGE)
  const demand = (isGiven: boolean, option: string, needs: string, isThere: boolean) => {
    if (isGiven && !isThere) throw new UsageError(`${option} needs ${needs}.`, USAGE)
  }
  if (trust && (all || patch || apply)) throw new UsageError(`--trust and ${ways[0]} exclude each other.`, USAGE)
  demand(exchanged, '--exchanged', '--all', all)
  demand(yes, '--yes', '--apply, --undo or --drop-added', apply || values.undo || drop)
  if (apply) return applyAdvice
  if (values.undo) return undo
  return drop ? dropAdded : undefined
}

async function show(used: UsedKey, { output, patch }: AdviseValues, io: Io): Promise<void> {
  const { key, object, usage } = used
  const { scope } = usage.advice ?? {}
  if (output !== undefined) return printAs(output, adviceObject(object), io)
  if (!patch) return io.out(adviceText(used))
  if (scope === undefined) return note(io, adviceText(used).trimEnd())
  const change = pastedPatch(key, scope)
  const yaml = io.shell === 'posix' ? (await dumpYaml(change)).trimEnd() : oneLine(change)
  const text = shellWords(
    ['kubectl', 'patch', 'ownedaccesskey', key.metadata.name, '--type=json', '-p', yaml],
    io.shell,
  )
  io.out(`${io.isTerminal.out ? plainLines(text) : text}\n`)
}

/** Returns YAML in one line without double quotes, which PowerShell does not pass to programs before its version 7.3. */
function oneLine(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(oneLine).join(', ')}]`
  if (typeof value === 'object' && value !== null)
    return `{${Object.entries(value)
      .map(([name, one]) => `${oneLine(name)}: ${oneLine(one)}`)
      .join(', ')}}`
  return typeof value === 'string' && !/\p{Cc}/u.test(value)
    ? `'${value.replaceAll("'", "''")}'`
    : typeof value === 'string'
      ? JSON.stringify(value)
      : String(value)
}

/** Shows the scopes of a trust. */
async function showTrust(session: Session, name: string, { output }: AdviseValues, io: Io): Promise<void> {
  const object = await session.get(trustPath(name))
  if (output !== undefined) return printAs(output, object, io)
  const trust = asKey(object)
  io.out(facts([['Name', name], ['Its keys may do', scopeWords(trust.spec?.scope)], ...scopesOf(trust)]))
}

/** Returns the usage with the parts that advice comes from. */
function adviceObject({ apiVersion = '', kind = '', metadata = {}, status }: JsonObject): JsonObject {
  const { recording, since, complete, lines, advice, findings } = (status ?? {}) as JsonObject
  const parts = Object.entries({ recording, since, complete, lines, advice, findings })
  const known = parts.filter(([, value]) => value !== undefined)
  return { apiVersion, kind, metadata, status: Object.fromEntries(known) as JsonObject }
}

async function adviseAll({ context, output, exchanged }: AdviseValues, io: Io): Promise<void> {
  const session = await openSession(io, { context })
  const all = await readEveryKey(io, session, { exchanged })
  if (output !== undefined) {
    const items = all.map(({ object }) => adviceObject(object))
    return printAs(output, { apiVersion: 'v1', kind: 'List', items }, io)
  }
  if (all.length === 0) return note(io, 'There are no access keys that you can see.')
  io.out(outputTable(UNNEEDED_COLUMNS, all.map(unneededRow), io))
}
