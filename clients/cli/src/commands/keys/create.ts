/** `keyplane keys create`: creates an access key and prints its value once. */

import { isUnrestricted } from '../../../../../lib/access/scopes/unrestricted.ts'
import type { JsonObject } from '../../../../../lib/engine/meta/types.ts'
import { type KeyText, keyTexts } from '../../../../../lib/keys/ownedaccesskey.texts.ts'
import { mayBeMade } from '../../../../core/src/answers.ts'
import { isInPlace, type MadeFile } from '../../../../core/src/files/privatefiles.ts'
import type { AccessKey, Scope } from '../../../../core/src/objects.ts'
import type { CallOptions } from '../../api/call.ts'
import { NetworkError } from '../../api/https.ts'
import { hintAtPlaces } from '../../api/instances.ts'
import { asKey, demandName, keyPath } from '../../api/keys.ts'
import { openSession, type Session } from '../../api/session.ts'
import { StatusError } from '../../api/status.ts'
import { command, type Values } from '../../arguments/command.ts'
import { lifetime } from '../../arguments/durations.ts'
import { pairs, split } from '../../arguments/lists.ts'
import { scopeOf, scopeOptions } from '../../arguments/scope.ts'
import { demandNewFile, fillNewFile, makeNewFile, removeNewFile } from '../../config/outputfile.ts'
import { CliError, UsageError } from '../../io/errors.ts'
import { note, warn } from '../../output/messages.ts'
import { plain } from '../../output/plain.ts'
import { printAs, printCredential } from '../../output/print.ts'
import { facts } from '../../output/table.ts'
import { removeMade } from '../../run/folder.ts'
import { factsOf } from './show.ts'

/** The options of the free texts. */
export const textOptions = Object.fromEntries(
  keyTexts.map(({ option, help }) => [option, { type: 'string', value: 'TEXT', help }]),
) as Record<KeyText['option'], { type: 'string'; value: string; help: string }>

const options = {
  ...textOptions,
  ttl: {
    type: 'string',
    value: 'DURATION',
    help: 'lifetime of the key, such as 12h, 30d or 52w',
    default: 'no end, unless the server sets one',
  },
  'ttl-after-last-activity': { type: 'boolean', help: 'count --ttl from the last use of the key; it needs --ttl' },
  ...scopeOptions,
  from: {
    type: 'string',
    multiple: true,
    value: 'CIDR',
    help: 'the only addresses or networks from which the key can be used, such as 203.0.113.0/24',
  },
  user: { type: 'string', value: 'USER', help: 'user that the key authenticates', default: 'you' },
  team: { type: 'string', value: 'TEAM', help: 'team that the key authenticates' },
  subject: { type: 'string', value: 'SUBJECT', help: 'other identity that the key authenticates' },
  group: { type: 'string', multiple: true, value: 'GROUP', help: 'additional group of requests with the key' },
  label: { type: 'string', multiple: true, short: 'l', value: 'NAME=VALUE', help: 'label of the object' },
  'key-file': {
    type: 'string',
    value: 'FILE',
    help: 'write the value to this new file, readable only by you, instead of printing it',
  },
  'dry-run': { type: 'boolean', help: 'let the server check everything and create nothing' },
} as const

export const keysCreate = command({
  name: ['keys', 'create'],
  summary: 'Create an access key and print its value, once',
  description:
    'Only the value is on standard output, so that a script can read it. In a terminal, a line break follows. The value cannot be read again: if it is lost, rotate the key.\n\n' +
    'Without options that limit it, the key may do everything that its owner may, and a warning says so. The key has the rights of a group, such as those of administrators, only if --group gives it the group. If you give several of these options, the key may do everything that one of them allows.',
  positionals: [{ name: 'NAME', help: 'name of the key (default: the server makes one)', optional: true }],
  options,
  formats: ['json', 'yaml', 'name'],
  examples: [
    {
      does: 'Create a key for a CI job: one project, 30 days',
      run: 'keyplane keys create ci --display-name "CI of the shop" --project shop --ttl 30d',
    },
    { does: 'Keep its value in a file', run: 'keyplane keys create ci --project shop --ttl 30d --key-file ci.key' },
    {
      does: 'Pass its value to another program',
      run: 'keyplane keys create ci --virtual-cluster shop/eu --ttl 30d | gh secret set KEYPLANE_KEY',
    },
    {
      does: 'Create a key that can rotate itself, for one network',
      run: 'keyplane keys create backup --cluster west --self-rotate --ttl 52w --from 203.0.113.0/24',
    },
  ],
  async run({ values, positionals: [name] }, io) {
    const { context, output } = values
    if (name !== undefined) demandName(name)
    const object = keyObject(name, values)
    const file = values['key-file']
    if (file !== undefined && values['dry-run']) await demandNewFile(file)
    // Before the key exists: a file that cannot be made must not cost its value, and two commands must not share one.
    const made = file === undefined || values['dry-run'] ? undefined : await makeNewFile(file)
    const make = async () => {
      const session = await openSession(io, { context })
      await hintAtPlaces(io, session, scopeOf(values) as Scope | undefined)
      const warnings: string[] = []
      const onWarning = (text: string) => void warnings.push(text)
      const created = await create(session, object, { dryRun: values['dry-run'], onWarning })
      const key = asKey(created)
      for (const text of limitWarnings(key, warnings)) warn(io, text)
      if (values['dry-run']) note(io, 'Dry run: the server would create this key.')
      else if (output === undefined) note(io, `Created the access key ${key.metadata.name}.`)
      const lost = withoutValue(plain(key.metadata.name))
      if (made) await keepValue(made, key.spec?.key ?? '', lost)
      return { created, key, lost }
    }
    const { created, key, lost } = await make().catch(async (error: unknown) => {
      if (made) await removeMade(io, made, removeNewFile)
      throw error
    })
    const value = key.spec?.key
    if (made) {
      note(io, `Its value is in ${file}.`)
      delete (created.spec as JsonObject | undefined)?.key
    }
    if (output !== undefined) {
      await printAs(output, created, io, values['dry-run'] || made ? undefined : lost)
      if (output === 'name' && file === undefined && !values['dry-run']) {
        note(io, `The value is not printed with -o name. For a new one: keyplane rotate ${key.metadata.name}`)
      }
      return
    }
    io.err(facts(factsOf(key, io), '  '))
    if (values['dry-run'] || file !== undefined) return
    note(io, 'This is its value. It is shown only now:')
    printCredential(value ?? '', io, lost)
  },
})

/** Writes the value to the file that was made for it. Throws a CliError if it is not there afterwards. */
async function keepValue(made: MadeFile, value: string, lost: string): Promise<void> {
  await fillNewFile(made, value).catch((error: Error) => {
    throw new CliError(error.message, { hint: lost, cause: error })
  })
  if (!(await isInPlace(made))) throw new CliError(`Another file has taken the place of ${made.path}.`, { hint: lost })
}

const withoutValue = (name: string): string =>
  `The access key ${name} exists, but its value is lost. For a new value: keyplane rotate ${name}. If you do not need the key: keyplane keys delete ${name}`

function keyObject(name: string | undefined, values: Values<typeof options>): JsonObject {
  const { ttl, user, team, subject } = values
  if ([user, team, subject].filter((one) => one !== undefined).length > 1)
    throw new UsageError('--user, --team and --subject exclude each other: a key authenticates one of them.')
  if (values['ttl-after-last-activity'] && ttl === undefined)
    throw new UsageError('--ttl-after-last-activity needs --ttl: that lifetime is counted from the last use.')
  const scope = scopeOf(values)
  const sources = split(values.from, '--from')
  return {
    apiVersion: 'management.platform/v1',
    kind: 'OwnedAccessKey',
    metadata: {
      ...(name === undefined ? { generateName: 'key-' } : { name }),
      ...(values.label.length > 0 && { labels: pairs(values.label, '--label') }),
    },
    spec: {
      ...Object.fromEntries(
        keyTexts.flatMap(({ name, option }) => (values[option] === undefined ? [] : [[name, values[option]]])),
      ),
      ...(user !== undefined && { user }),
      ...(team !== undefined && { team }),
      ...(subject !== undefined && { subject }),
      ...(values.group.length > 0 && { groups: [...values.group] }),
      ...(ttl !== undefined && { ttl: lifetime(ttl, '--ttl') }),
      ...(values['ttl-after-last-activity'] && { ttlAfterLastActivity: true }),
      ...(sources.length > 0 && { sourceCIDRs: sources }),
      ...(scope !== undefined && { scope }),
    },
  }
}

/** Returns what a new key is not limited by, unless the server has said so already. */
function limitWarnings({ metadata: { name }, spec, status }: AccessKey, said: readonly string[]): string[] {
  if (said.some((text) => text.includes('never expires and has all permissions'))) return []
  const owner = status?.owner ?? 'its owner'
  return [
    ...(isUnrestricted(spec?.scope)
      ? [`access key "${name}" has no scope and may do everything that ${owner} may: limit it, such as with --project`]
      : []),
    ...(status?.expirationTimestamp === undefined
      ? [`access key "${name}" never expires: give it an end with --ttl`]
      : []),
  ]
}

/** Creates the key. After a failure of the network the key may exist, which the message then says. */
async function create(session: Session, object: JsonObject, options: CallOptions): Promise<JsonObject> {
  try {
    return await session.post(keyPath(), object, options)
  } catch (error) {
    const lost = error instanceof NetworkError || (error instanceof StatusError && mayBeMade(error.code))
    if (options.dryRun || !lost) throw error
    throw new CliError(error.message, {
      exitCode: error.exitCode,
      hint: 'The key may have been created, but its value is lost. Look with: keyplane keys list',
      cause: error,
    })
  }
}
