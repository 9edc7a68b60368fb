/** `keyplane advise`: shows what a key does not need, tries a smaller scope, makes it real, and goes back. */

import { scopeWords } from '../../../../lib/authorization/scopes/words.ts'
import { dumpYaml } from '../../../../lib/meta/encoding/yaml.ts'
import type { JsonObject, JsonValue } from '../../../../lib/meta/types.ts'
import { duration } from '../../../core/src/durations.ts'
import { pastedPatch } from '../../../core/src/scopechange.ts'
import { shellWords } from '../../../core/src/shellwords.ts'
import { adviceText, UNNEEDED_COLUMNS, unneededRow } from '../advice/advicetexts.ts'
import { readEveryKey } from '../advice/everykey.ts'
import { beginTrial, makeReal, type Target, undo } from '../advice/scopesteps.ts'
import { asKey, demandName, trustPath } from '../api/keys.ts'
import { openSession, type Session } from '../api/session.ts'
import { readUsedKey, type UsedKey } from '../api/usage.ts'
import { type CommonValues, command, type Values } from '../arguments/command.ts'
import { seconds } from '../arguments/durations.ts'
import { scopeOf, scopeOptions } from '../arguments/scope.ts'
import { UsageError } from '../io/errors.ts'
import type { Io } from '../io/io.ts'
import { canAsk } from '../output/confirm.ts'
import { note } from '../output/messages.ts'
import { plainLines } from '../output/plain.ts'
import { printAs } from '../output/print.ts'
import { facts, outputTable } from '../output/table.ts'
import { trialOf } from './keys/show.ts'

const SHORTEST_TRIAL_SECONDS = 3600
const LONGEST_TRIAL_SECONDS = 90 * 86_400

/** A role stands for it. */
const { 'self-rotate': _, ...triedScope } = scopeOptions

const options = {
  all: {
    type: 'boolean',
    help: 'one line for every key that you may see, those first that need the least of their scope',
  },
  exchanged: { type: 'boolean', help: 'with --all: also the keys of exchanges, which live for a day at most' },
  patch: { type: 'boolean', help: 'print the change as a command of kubectl' },
  trial: {
    type: 'string',
    value: 'DURATION',
    help: 'try the advised scope, or that of the options below, for this time, from 1h to 90d: requests that it would refuse succeed, with a warning, and are recorded',
  },
  replace: { type: 'boolean', help: 'with --trial: in place of a trial that runs' },
  apply: { type: 'boolean', help: 'make the scope of the trial real or, without a trial, the advised scope' },
  force: { type: 'boolean', help: 'with --apply: although the trial would have refused requests' },
  undo: {
    type: 'boolean',
    help: 'end the trial or, after --apply, put the former scope back, or drop scopes that were added',
  },
  yes: { type: 'boolean', short: 'y', help: 'do not ask' },
  trust: {
    type: 'boolean',
    help: 'NAME is the name of a trust (federated identity credential), for which there is no advice: --trial needs a scope',
  },
  ...triedScope,
} as const

type AdviseValues = Values<typeof options> & CommonValues

export const advise = command({
  name: ['advise'],
  summary: 'Show what a key does not need, and try a smaller scope before you make it real',
  description: [
    'Without options, the command shows a smaller scope that still allows everything that the key did. It also shows what is unknown, and other ways to improve the key. It changes nothing.',
    '--trial, --apply and --undo change the key. They first let the server check the change, show it, and ask for confirmation in a terminal. If somebody else changes the key in the meantime, they change nothing.',
  ].join('\n\n'),
  positionals: [{ name: 'NAME', help: 'name of the access key, or of the trust; none with --all', optional: true }],
  options,
  formats: ['json', 'yaml'],
  examples: [
    { does: 'Show what a key does not need', run: 'keyplane advise ci' },
    { does: 'Show which keys need the least of their scope', run: 'keyplane advise --all' },
    { does: 'Try the smaller scope for a week', run: 'keyplane advise ci --trial 7d' },
    { does: 'Make it real after that', run: 'keyplane advise ci --apply' },
    { does: 'Put the former scope back', run: 'keyplane advise ci --undo' },
    { does: 'Try a smaller scope of a trust', run: 'keyplane advise deploy --trust --trial 7d --project shop' },
  ],
  async run({ values, positionals: [name] }, io) {
    const step = stepOf(values, name)
    if (name === undefined) {
      if (!values.all) throw new UsageError('Which key? Give its name, or --all.', USAGE)
      return adviseAll(values, io)
    }
    demandName(name, values.trust ? 'a trust' : undefined)
    if (step !== undefined && !values.yes && !canAsk(io)) {
      throw new UsageError(
        'There is no terminal to ask in.',
        `Look first with "keyplane advise ${name}${values.trust ? ' --trust' : ''}", then repeat it with --yes.`,
      )
    }
    const session = await openSession(io, { context: values.context })
    if (step === undefined && values.trust) return showTrust(session, name, values, io)
    if (step === undefined) return show(await readUsedKey(session, name), values, io)
    const changed = await step({ io, session, name, isTrust: values.trust, yes: values.yes })
    if (values.output !== undefined) await printAs(values.output, changed, io)
  },
})

const USAGE = 'Run "keyplane advise --help" for its options and examples.'

/** Returns the change that the options ask for; undefined if they ask for none. Throws a UsageError if they contradict each other. */
function stepOf(values: AdviseValues, name: string | undefined): ((target: Target) => Promise<JsonObject>) | undefined {
  const { all, exchanged, patch, trial, replace, apply, force, yes, trust, output } = values
  const scope = scopeOf({ ...values, 'self-rotate': false })
  const ways = [
    ...(all ? ['--all'] : []),
    ...(patch ? ['--patch'] : []),
    ...(trial === undefined ? [] : ['--trial']),
    ...(apply ? ['--apply'] : []),
    ...(values.undo ? ['--undo'] : []),
  ]
  if (ways.length > 1) throw new UsageError(`${ways.join(' and ')} exclude each other.`, USAGE)
  if (all && name !== undefined) throw new UsageError('--all is about every key: give no name with it.', USAGE)
  if (patch && output !== undefined) throw new UsageError('--patch and -o exclude each other.', USAGE)
  const demand = (isGiven: boolean, option: string, needs: string, isThere: boolean) => {
    if (isGiven && !isThere) throw new UsageError(`${option} needs ${needs}.`, USAGE)
  }
  if (trust && (all || patch)) throw new UsageError(`--trust and ${ways[0]} exclude each other.`, USAGE)
  demand(exchanged, '--exchanged', '--all', all)
  demand(scope !== undefined, 'A scope', '--trial', trial !== undefined)
  demand(trust && trial !== undefined, '--trust with --trial', 'a scope, such as --project shop', scope !== undefined)
  demand(replace, '--replace', '--trial', trial !== undefined)
  demand(force, '--force', '--apply', apply)
  demand(yes, '--yes', '--trial, --apply or --undo', trial !== undefined || apply || values.undo)
  if (trial !== undefined) {
    const length = trialSeconds(trial)
    return (target) => beginTrial(target, length, { replace, scope })
  }
  if (apply) return (target) => makeReal(target, { force })
  return values.undo ? undo : undefined
}

function trialSeconds(text: string): number {
  const length = seconds(text, '--trial')
  if (length >= SHORTEST_TRIAL_SECONDS && length <= LONGEST_TRIAL_SECONDS) return length
  throw new UsageError(
    `--trial must be from ${duration(SHORTEST_TRIAL_SECONDS)} to ${duration(LONGEST_TRIAL_SECONDS)}, not "${text}".`,
  )
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

/** Shows the trial of a trust. */
async function showTrust(session: Session, name: string, { output }: AdviseValues, io: Io): Promise<void> {
  const object = await session.get(trustPath(name))
  if (output !== undefined) return printAs(output, object, io)
  const trust = asKey(object)
  io.out(facts([['Name', name], ['Its keys may do', scopeWords(trust.spec?.scope)], ...trialOf(trust, io)]))
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
