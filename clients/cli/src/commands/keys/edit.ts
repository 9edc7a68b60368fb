/** `keyplane keys edit`: changes an access key, after a dry run, and after a question if the key gets less. */
import { removesSomething } from '../../../../../lib/access/advice/scopediff.ts'
import type { JsonObject, JsonValue } from '../../../../../lib/engine/meta/types.ts'
import { DISABLED_REASON, keyTexts } from '../../../../../lib/keys/ownedaccesskey.texts.ts'
import { timeOf } from '../../../../core/src/keylives.ts'
import type { AccessKey, Scope } from '../../../../core/src/objects.ts'
import { scopeDiff } from '../../../../core/src/scopechange.ts'
import { asKey, keyPath } from '../../api/keys.ts'
import { openSession } from '../../api/session.ts'
import { StatusError } from '../../api/status.ts'
import { command, type Values } from '../../arguments/command.ts'
import { lifetime } from '../../arguments/durations.ts'
import { split } from '../../arguments/lists.ts'
import { timeIn } from '../../arguments/moment.ts'
import { scopeOf, scopeOptions } from '../../arguments/scope.ts'
import { CliError, UsageError } from '../../io/errors.ts'
import { agreed, demandTerminal, yesOption } from '../../output/confirm.ts'
import { note } from '../../output/messages.ts'
import { plain } from '../../output/plain.ts'
import { printAs } from '../../output/print.ts'
import { textOptions } from './create.ts'

/** The options whose texts may be removed. */
const CLEARED: readonly string[] = [...keyTexts.map(({ option }) => option), 'reason']

const options = {
  ...textOptions,
  clear: {
    type: 'string',
    multiple: true,
    value: 'OPTION',
    choices: CLEARED,
    help: `remove the text of an option: ${CLEARED.join(', ')}`,
  },
  for: { type: 'string', value: 'DURATION', help: 'how long the key lives from now on, such as 30d' },
  until: { type: 'string', value: 'TIME', help: 'when the key ends: a day such as 2027-01-31, or a time' },
  'no-end': { type: 'boolean', help: 'the key never ends' },
  ...scopeOptions,
  'only-these': { type: 'boolean', help: 'the entries above are the whole scope; otherwise they are added to it' },
  'no-scope': { type: 'boolean', help: 'no scope limits the key' },
  from: {
    type: 'string',
    multiple: true,
    value: 'CIDR',
    help: 'the only addresses or networks from which the key can be used; "any" removes the limit',
  },
  label: {
    type: 'string',
    multiple: true,
    short: 'l',
    value: 'NAME=VALUE',
    help: 'set a label; NAME- removes it',
  },
  reason: { type: 'string', value: 'TEXT', help: 'why the key is disabled' },
  'dry-run': { type: 'boolean', help: 'show what would change, and change nothing' },
  ...yesOption,
} as const

type EditValues = Values<typeof options>

export const keysEdit = command({
  name: ['keys', 'edit'],
  summary: 'Change an access key: its life, scope, addresses, labels and texts',
  description:
    'The server checks the change first, and what it removes and adds is shown. The command asks before the key gets less: a smaller scope, a shorter life, fewer addresses. Without a terminal it then needs --yes. If somebody else changes the key in the meantime, it changes nothing.',
  positionals: [{ name: 'NAME', help: 'name of the key', names: 'keys' }],
  options,
  formats: ['json', 'yaml', 'name'],
  examples: [
    { does: 'Let a key live 30 days from now', run: 'keyplane keys edit ci --for 30d' },
    { does: 'Allow another project as well', run: 'keyplane keys edit ci --project blog' },
    { does: 'Limit a key to one cluster', run: 'keyplane keys edit ci --cluster eu --only-these' },
    { does: 'Set a label and remove another one', run: 'keyplane keys edit ci -l team=shop -l old-' },
  ],
  async run({ values, positionals: [name = ''] }, io) {
    const { context, output, yes, 'dry-run': isDryRun } = values
    demandUsage(values)
    const session = await openSession(io, { context })
    const path = keyPath(name)
    const key = asKey(await session.get(path))
    const patch = patchOf(key, values, io.now())
    const send = (dryRun: boolean) =>
      session.patch(path, patch, { dryRun, repeatable: dryRun }).catch((error: unknown) => {
        throw meanwhile(error, name)
      })
    const checked = asKey(await send(true))
    const lines = changesBetween(key, checked)
    if (lines.length === 0) {
      note(io, `${name} is so already.`)
      if (output !== undefined) await printAs(output, checked as unknown as JsonObject, io)
      return
    }
    io.err(lines.map((line) => `  ${plain(line)}\n`).join(''))
    if (isDryRun) {
      note(io, 'Dry run: the server would change the key so.')
      if (output !== undefined) await printAs(output, checked as unknown as JsonObject, io)
      return
    }
    if (!yes && isNarrower(key, checked)) {
      demandTerminal(io, 'The key would get less. Look first with --dry-run, then repeat it with --yes.')
      if (!(await agreed(io, `Change ${name}? It gets less.`))) return
    }
    const changed = await send(false)
    if (output !== undefined) return printAs(output, changed, io)
    note(
      io,
      `${name} is changed.${scopeChanged(key, checked) ? ` To take the scope back: keyplane advise ${name} --undo` : ''}`,
    )
  },
})

function demandUsage(values: EditValues): void {
  const { for: life, until, 'no-end': noEnd, 'no-scope': noScope, 'only-these': only } = values
  const ends = [life !== undefined, until !== undefined, noEnd].filter(Boolean)
  if (ends.length > 1) throw new UsageError('--for, --until and --no-end exclude each other.')
  const scope = scopeOf(values)
  if (noScope && scope !== undefined) throw new UsageError('--no-scope excludes options that allow something.')
  if (only && scope === undefined)
    throw new UsageError('--only-these needs an option that allows something, such as --project.')
  const texts = keyTexts.some(({ option }) => values[option] !== undefined)
  const others = values.from.length + values.label.length + values.clear.length > 0 || values.reason !== undefined
  if (ends.length === 0 && !noScope && scope === undefined && !texts && !others)
    throw new UsageError('What should change? Give an option.', 'Run "keyplane keys edit --help" for them.')
}

/** Returns a JSON patch: a merge patch would merge scopes. It holds only for the key as it was read. */
function patchOf(key: AccessKey, values: EditValues, now: Date): JsonObject[] {
  const { metadata, spec } = key
  const patch: JsonObject[] = [{ op: 'replace', path: '/metadata/resourceVersion', value: metadata.resourceVersion }]
  const set = (member: keyof AccessKey['spec'], value: JsonValue | undefined) => {
    if (value !== undefined) patch.push({ op: 'add', path: `/spec/${member}`, value })
    else if (spec[member] !== undefined) patch.push({ op: 'remove', path: `/spec/${member}` })
  }
  const cleared = split(values.clear, '--clear')
  for (const { name, option } of keyTexts)
    if (values[option] !== undefined || cleared.includes(option)) set(name, values[option])
  const ttl = ttlOf(key, values, now)
  if (ttl !== 'kept') set('ttl', ttl)
  const scope = scopeOf(values)
  if (values['no-scope']) set('scope', undefined)
  else if (scope !== undefined) set('scope', values['only-these'] ? scope : together(spec.scope, scope))
  const sources = split(values.from, '--from')
  if (sources.length > 0) set('sourceCIDRs', sources.includes('any') ? undefined : sources)
  if (values.label.length > 0)
    patch.push({ op: 'add', path: '/metadata/labels', value: labelsOf(metadata.labels, values.label) })
  if (values.reason !== undefined || cleared.includes('reason'))
    patch.push({ op: 'add', path: '/metadata/annotations', value: annotationsOf(key, values.reason ?? '') })
  return patch
}

/** Returns the lifetime in seconds, which counts from the creation of the key or from its last use. */
function ttlOf({ metadata, spec }: AccessKey, values: EditValues, now: Date): number | undefined | 'kept' {
  const { for: life, until, 'no-end': noEnd } = values
  if (noEnd) return undefined
  if (life === undefined && until === undefined) return 'kept'
  if (spec.ttlAfterLastActivity) {
    if (life !== undefined) return lifetime(life, '--for')
    throw new UsageError('The life of this key counts from its last use: give --for in place of --until.')
  }
  const end = life === undefined ? timeIn(until ?? '') : now.getTime() + lifetime(life, '--for') * 1000
  if (Number.isNaN(end)) throw new UsageError(`--until must be a day such as 2027-01-31 or a time, not "${until}".`)
  if (end <= now.getTime())
    throw new UsageError('--until must be in the future.', `To end it: keyplane keys disable ${metadata.name}`)
  return Math.ceil((end - (timeOf(metadata.creationTimestamp) ?? now.getTime())) / 1000)
}

/** Returns the scope with the entries of another one added, as far as it does not have them. */
function together(scope: Scope | undefined, more: JsonObject): JsonObject {
  const before = (scope ?? {}) as JsonObject
  const lists = Object.entries(more).map(([member, entries]): [string, JsonValue] => {
    const old = (before[member] ?? []) as JsonValue[]
    const known = new Set(old.map((entry) => JSON.stringify(entry)))
    return [member, [...old, ...(entries as JsonValue[]).filter((entry) => !known.has(JSON.stringify(entry)))]]
  })
  return { ...before, ...Object.fromEntries(lists) }
}

function labelsOf(labels: Readonly<Record<string, string>> = {}, given: readonly string[]): JsonObject {
  const next = new Map(Object.entries(labels))
  for (const one of split(given, '--label')) {
    const at = one.indexOf('=')
    if (at > 0) next.set(one.slice(0, at), one.slice(at + 1))
    else if (at < 0 && one.length > 1 && one.endsWith('-')) next.delete(one.slice(0, -1))
    else throw new UsageError(`--label must be NAME=VALUE, or NAME- to remove it, not "${one}"`)
  }
  return Object.fromEntries(next)
}

function annotationsOf({ metadata, spec }: AccessKey, reason: string): JsonObject {
  if (!spec.disabled)
    throw new UsageError(
      '--reason is for a disabled key.',
      `To disable it: keyplane keys disable ${metadata.name} --reason TEXT`,
    )
  const { [DISABLED_REASON]: _, ...others } = metadata.annotations ?? {}
  return { ...others, ...(reason !== '' && { [DISABLED_REASON]: reason }) }
}

const scopeChanged = (before: AccessKey, after: AccessKey): boolean =>
  JSON.stringify(before.spec.scope) !== JSON.stringify(after.spec.scope)

/** Returns what a change removes and adds, a line each. */
function changesBetween(before: AccessKey, after: AccessKey): string[] {
  const textOf = (value: unknown): string =>
    value === undefined ? 'none' : typeof value === 'string' ? value : JSON.stringify(value)
  const values = ({ metadata, spec, status }: AccessKey): [string, unknown][] => [
    ...keyTexts.map(({ name, title }): [string, unknown] => [title, spec[name]]),
    ['Expires', status?.expirationTimestamp ?? 'never'],
    ['Used from', spec.sourceCIDRs?.join(', ') || 'anywhere'],
    [
      'Labels',
      Object.entries(metadata.labels ?? {})
        .map(([name, value]) => `${name}=${value}`)
        .sort()
        .join(', ') || undefined,
    ],
    ['Disabled because', metadata.annotations?.[DISABLED_REASON]],
  ]
  const then = new Map(values(after))
  const simple = values(before)
    .filter(([title, value]) => textOf(value) !== textOf(then.get(title)))
    .map(([title, value]) => `${title}: ${textOf(value)} → ${textOf(then.get(title))}`)
  if (!scopeChanged(before, after)) return simple
  const entries = scopeDiff(before.spec.scope, after.spec.scope)
  const gone =
    after.spec.scope === undefined
      ? ['Scope: none limits the key']
      : before.spec.scope === undefined
        ? ['Scope: none → these only']
        : ['Scope:']
  return [...simple, ...gone, ...entries.map((line) => `  ${line}`)]
}

/** Reports whether the key gets less: a smaller scope, a shorter life, or fewer addresses. */
function isNarrower(before: AccessKey, after: AccessKey): boolean {
  const end = ({ status }: AccessKey) => timeOf(status?.expirationTimestamp) ?? Number.POSITIVE_INFINITY
  if (end(after) < end(before)) return true
  const [old, next] = [before.spec.sourceCIDRs ?? [], after.spec.sourceCIDRs ?? []]
  if (next.length > 0 && (old.length === 0 || old.some((one) => !next.includes(one)))) return true
  if (after.spec.scope === undefined || !scopeChanged(before, after)) return false
  return removesSomething(before.spec.scope, after.spec.scope)
}

/** Returns a conflict in words, and every other error as it is. */
function meanwhile(error: unknown, name: string): unknown {
  if (!(error instanceof StatusError) || error.code !== 409) return error
  return new CliError(`${name} has changed meanwhile. This command has changed nothing.`, {
    exitCode: error.exitCode,
    hint: 'Repeat the command to see it as it is now.',
    cause: error,
  })
}
