/** `keyplane revoke`: disables or deletes all access keys that match, and trusts (FederatedIdentityCredentials) if it is asked to. */
import type { JsonObject } from '../../../../lib/engine/meta/types.ts'
import { type RevocationStatus, totalOf } from '../../../core/src/objects.ts'
import { type Revocation, revoke as revokeAll } from '../api/revocations.ts'
import { openSession } from '../api/session.ts'
import { command, type Values } from '../arguments/command.ts'
import { split } from '../arguments/lists.ts'
import { moment } from '../arguments/moment.ts'
import { labelSelector } from '../arguments/selector.ts'
import { isUid } from '../arguments/uid.ts'
import { CliError, UsageError } from '../io/errors.ts'
import type { Io } from '../io/io.ts'
import { agreed, demandTerminal, yesOption } from '../output/confirm.ts'
import { note } from '../output/messages.ts'
import { printAs } from '../output/print.ts'
import { table } from '../output/table.ts'
import { ago, expiry } from '../output/times.ts'

const options = {
  selector: {
    type: 'string',
    short: 'l',
    value: 'SELECTOR',
    help: 'keys with these labels, such as app=shop,env!=dev',
  },
  user: { type: 'string', multiple: true, value: 'USER', help: 'keys of this user' },
  team: { type: 'string', multiple: true, value: 'TEAM', help: 'keys of this team' },
  subject: { type: 'string', multiple: true, value: 'SUBJECT', help: 'keys of this subject' },
  type: {
    type: 'string',
    multiple: true,
    value: 'TYPE',
    help: 'keys of this type; "" for those without one',
    mayBeEmpty: true,
  },
  'created-before': {
    type: 'string',
    value: 'TIME',
    help: 'keys that are older, such as 90d or 2026-11-22T10:00:00Z',
  },
  'unused-since': { type: 'string', value: 'TIME', help: 'keys that were not used since then, such as 90d' },
  'made-with': {
    type: 'string',
    value: 'NAME',
    help: 'keys that were made with this key, and the keys made with those; for a deleted key, its uid',
  },
  'no-descendants': { type: 'boolean', help: 'with --made-with: only its direct children' },
  unscoped: { type: 'boolean', help: 'keys that no scope limits' },
  name: { type: 'string', multiple: true, value: 'NAME', help: 'keys with this name' },
  all: { type: 'boolean', help: 'every key that you may revoke' },
  trusts: {
    type: 'boolean',
    help: 'also the trusts (federated identity credentials) that match; otherwise they keep issuing keys',
  },
  'include-self': { type: 'boolean', help: 'also the key that you use now, after all others' },
  delete: { type: 'boolean', help: 'delete the keys instead of disabling them' },
  reason: { type: 'string', value: 'TEXT', help: 'why; everyone who may read a disabled key sees it' },
  'at-most': { type: 'string', value: 'NUMBER', help: 'change nothing if more keys match' },
  'dry-run': { type: 'boolean', help: 'only show which keys match' },
  ...yesOption,
} as const

export const revoke = command({
  name: ['revoke'],
  summary: 'Disable or delete many access keys at once',
  description: [
    'A key must match every selecting option, and one of the values of each option. The command shows the keys, and asks for confirmation in a terminal.',
    'Disabled keys can be enabled again; deleted keys are lost. If you stop this program, the keys that it has revoked stay revoked. Repeat the same command to continue.',
  ].join('\n\n'),
  positionals: [
    { name: 'NAME', help: 'keys with this name, as with --name', optional: true, multiple: true, names: 'keys' },
  ],
  options,
  formats: ['json', 'yaml'],
  examples: [
    {
      does: 'Disable the keys and the trusts of somebody who leaves',
      run: 'keyplane revoke --user alice --trusts --reason "has left"',
    },
    { does: 'Disable two keys', run: 'keyplane revoke ci-7xk2p ci-m4wqz' },
    { does: 'Show which keys were not used for 90 days', run: 'keyplane revoke --unused-since 90d --dry-run' },
    {
      does: 'End a stolen key and all that was made with it, without a question',
      run: 'keyplane revoke ci --yes && keyplane revoke --made-with ci --trusts --yes',
    },
  ],
  async run({ values: given, positionals }, io) {
    const values = { ...given, name: [...given.name, ...positionals] }
    const { context, output, yes } = values
    const spec = specOf(values, io.now())
    if (!values['dry-run'] && !yes) demandTerminal(io, 'Look first with --dry-run, then repeat it with --yes.')
    const session = await openSession(io, { context })
    const tried = await revokeAll(io, session, spec, { dryRun: true })
    const { matched } = totalOf(tried.status)
    if (values['dry-run']) {
      if (output !== undefined) return await printAs(output, tried.object, io)
      return io.out(describe(tried.status, io))
    }
    if (matched === 0) return note(io, describe(tried.status, io).trimEnd())
    if (!yes && !(await isAgreed(io, spec, tried.status))) return
    // More keys may match by now than were shown.
    const atMost = yes ? spec.atMost : matched
    const done = await revokeAll(io, session, { ...spec, ...(atMost !== undefined && { atMost }) }, { dryRun: false })
    if (output !== undefined) await printAs(output, done.object, io)
    finish(io, spec, done.status)
  },
})

function specOf(values: Values<typeof options>, now: Date): Revocation {
  const time = (option: 'created-before' | 'unused-since') => {
    const text = values[option]
    return text === undefined ? undefined : moment(text, `--${option}`, now)
  }
  const list = (option: 'user' | 'team' | 'subject' | 'name') =>
    values[option].length > 0 ? split(values[option], `--${option}`) : undefined
  const madeWith = values['made-with']
  const isDirect = values['no-descendants']
  if (isDirect && madeWith === undefined) throw new UsageError('--no-descendants needs --made-with NAME')
  const selecting = known({
    selector: values.selector === undefined ? undefined : labelSelector(values.selector, '--selector'),
    users: list('user'),
    teams: list('team'),
    subjects: list('subject'),
    types: values.type.length > 0 ? values.type : undefined,
    createdBefore: time('created-before'),
    unusedSince: time('unused-since'),
    madeWith:
      madeWith === undefined
        ? undefined
        : { [isUid(madeWith) ? 'uid' : 'name']: madeWith, ...(isDirect && { descendants: false }) },
    unscoped: values.unscoped || undefined,
    names: list('name'),
    all: values.all || undefined,
  })
  if (Object.keys(selecting).length === 0) {
    throw new UsageError('Which keys? Give an option that selects them, or --all.', 'Run "keyplane revoke --help".')
  }
  return {
    ...selecting,
    action: values.delete ? 'Delete' : 'Disable',
    ...known({
      reason: values.reason,
      atMost: values['at-most'] === undefined ? undefined : count(values['at-most']),
      includeSelf: values['include-self'] || undefined,
      federatedIdentityCredentials: values.trusts || undefined,
    }),
  }
}

const known = (members: Record<string, unknown>): JsonObject =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as JsonObject

function count(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new UsageError(`--at-most must be a number, not "${text}"`)
  return Number(text)
}

const counted = (keys: number): string => (keys === 1 ? '1 access key' : `${keys} access keys`)

const countedTrusts = (trusts: number): string => (trusts === 1 ? '1 trust' : `${trusts} trusts`)

/** Returns the tables of the keys and trusts that match. */
function describe(status: RevocationStatus, io: Io): string {
  const trusts = status.federatedIdentityCredentials
  if (trusts === undefined) return describeKeys(status, io)
  const { matched = 0, items = [] } = trusts
  if (matched === 0) return `${describeKeys(status, io)}No trust matches.\n`
  const rows = items.map(({ name = '', owner = '', displayName = '', identityProvider = '' }) => [
    name,
    owner,
    displayName,
    identityProvider,
  ])
  const more = matched - items.length
  return [
    describeKeys(status, io),
    table(['NAME', 'OWNER', 'DISPLAY NAME', 'PROVIDER'], rows, io.columns),
    ...(more > 0 ? [`… and ${countedTrusts(more)} more\n`] : []),
    `${countedTrusts(matched)}\n`,
  ].join('')
}

/** Returns the table of the keys that match, and how many of each owner. */
function describeKeys({ matched = 0, keys = [], byOwner = {} }: RevocationStatus, io: Io): string {
  if (matched === 0) return 'No access key matches.\n'
  const now = io.now()
  const rows = keys.map(({ name = '', owner = '', displayName = '', lastActivity, expirationTimestamp }) => [
    name,
    owner,
    displayName,
    ago(lastActivity, now),
    expiry(expirationTimestamp, now),
  ])
  const more = matched - keys.length
  const owners = Object.entries(byOwner).toSorted(([, a], [, b]) => b - a)
  const shown = owners.slice(0, 5).map(([owner, number]) => `${number} of ${owner}`)
  const others = owners.length > shown.length ? [`others of ${owners.length - shown.length} more owners`] : []
  return [
    table(['NAME', 'OWNER', 'DISPLAY NAME', 'LAST USED', 'EXPIRES'], rows, io.columns),
    ...(more > 0 ? [`… and ${counted(more)} more\n`] : []),
    `${counted(matched)}: ${[...shown, ...others].join(', ')}\n`,
  ].join('')
}

function isAgreed(io: Io, { action }: Revocation, status: RevocationStatus): Promise<boolean> {
  note(io, describe(status, io))
  return agreed(io, action === 'Delete' ? 'Delete them permanently?' : 'Disable them?')
}

function describeUnconfirmed({ keys = 0, clusters = [] }: NonNullable<RevocationStatus['unconfirmed']>): string {
  const have = clusters.length === 1 ? '1 cluster has' : `${clusters.length} clusters have`
  return `${have} not confirmed: ${clusters.join(', ')}. Tokens of ${counted(keys)} may still work there.`
}

/** Says what was done. Throws a CliError if keys or trusts are left. */
function finish(io: Io, { action }: Revocation, status: RevocationStatus): void {
  const { done = 0, failed = 0, federatedIdentityCredentials: trusts, unconfirmed, failures = [] } = status
  const verb = action === 'Delete' ? 'deleted' : 'disabled'
  note(io, `${counted(done)} ${done === 1 ? 'is' : 'are'} ${verb}.`)
  const { done: ended = 0, failed: living = 0 } = trusts ?? {}
  if (trusts) note(io, `${countedTrusts(ended)} ${ended === 1 ? 'is' : 'are'} ${verb}.`)
  if (unconfirmed) note(io, describeUnconfirmed(unconfirmed))
  if (totalOf(status).failed === 0) return
  const left = [...(failed > 0 ? [counted(failed)] : []), ...(living > 0 ? [countedTrusts(living)] : [])]
  const reasons = failures.map(({ name, message = '' }) => `  ${name}: ${message}`)
  const isRefused = failures.every(({ code = 500 }) => code < 500)
  throw new CliError([`${left.join(' and ')} could not be ${verb}:`, ...reasons].join('\n'), {
    exitCode: isRefused ? 4 : 1,
    ...(!isRefused && { hint: 'Repeat the command: it continues with these.' }),
  })
}
