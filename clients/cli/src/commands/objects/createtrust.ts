/** `keyplane trusts create`: lets the jobs that some claims name exchange their ID tokens. */
import type { JsonObject } from '../../../../../lib/engine/meta/types.ts'
import { hintAtPlaces } from '../../api/instances.ts'
import { demandName, trustsPath } from '../../api/keys.ts'
import { openSession } from '../../api/session.ts'
import { command } from '../../arguments/command.ts'
import { lifetime } from '../../arguments/durations.ts'
import { scopeOf, scopeOptions } from '../../arguments/scope.ts'
import { UsageError } from '../../io/errors.ts'
import { note } from '../../output/messages.ts'
import { plain } from '../../output/plain.ts'
import { printAs } from '../../output/print.ts'
import { asShown } from './kinds.ts'

const { 'self-rotate': _, ...scopes } = scopeOptions

export const trustsCreate = command({
  name: ['trusts', 'create'],
  summary: 'Let jobs exchange their ID tokens for keys and tokens of clusters',
  description:
    'All claims must match. What a job is named by differs from platform to platform: https://HOST/console/docs/ci has the claims of each, and the console fills them in. The client ID, which the job sends, is on standard output.',
  positionals: [{ name: 'NAME', help: 'name of the trust' }],
  options: {
    provider: {
      type: 'string',
      value: 'NAME',
      help: 'identity provider that issues the ID tokens',
      names: 'providers',
    },
    claim: {
      type: 'string',
      multiple: true,
      value: 'CLAIM=VALUE',
      help: 'claim that the ID token must have; a claim that is given again may have either value',
    },
    ...scopes,
    user: { type: 'string', value: 'USER', help: 'user that the keys authenticate', default: 'you' },
    team: { type: 'string', value: 'TEAM', help: 'team that the keys authenticate' },
    ttl: { type: 'string', value: 'DURATION', help: 'lifetime of the keys', default: '1h' },
    'tokens-only': { type: 'boolean', help: 'give tokens of clusters, and no keys' },
    'display-name': { type: 'string', value: 'TEXT', help: 'name for people' },
    description: { type: 'string', value: 'TEXT', help: 'what the trust is for' },
    'dry-run': { type: 'boolean', help: 'let the server check everything and create nothing' },
  },
  formats: ['json', 'yaml', 'name'],
  examples: [
    {
      does: 'Let the job that deploys the shop use one cluster',
      run: 'keyplane trusts create shop --provider github --claim repository_id=74 --claim environment=production --cluster west --team shop',
    },
  ],
  async run({ values, positionals: [name = ''] }, io) {
    const { context, output, provider, claim, user, team, ttl, description } = values
    demandName(name, 'a trust')
    if (provider === undefined)
      throw new UsageError('--provider is missing.', 'The identity providers are those of: keyplane providers list')
    const claims = claimsIn(claim)
    if (user !== undefined && team !== undefined) throw new UsageError('--user and --team exclude each other.')
    const scope = scopeOf({ ...values, 'self-rotate': false })
    if (scope === undefined)
      throw new UsageError('Say what the jobs may do, such as with --cluster, --project or --virtual-cluster.')
    const object = {
      apiVersion: 'management.platform/v1',
      kind: 'FederatedIdentityCredential',
      metadata: { name },
      spec: {
        identityProvider: provider,
        claims,
        scope,
        ...(user !== undefined && { user }),
        ...(team !== undefined && { team }),
        ...(ttl !== undefined && { ttl: lifetime(ttl, '--ttl') }),
        ...(values['tokens-only'] && { tokensOnly: true }),
        ...(values['display-name'] !== undefined && { displayName: values['display-name'] }),
        ...(description !== undefined && { description }),
      },
    }
    const session = await openSession(io, { context })
    await hintAtPlaces(io, session, scope)
    const created = await session.post(trustsPath(), object, { dryRun: values['dry-run'] })
    note(io, values['dry-run'] ? 'Dry run: the server would create this trust.' : `Created the trust ${name}.`)
    if (output !== undefined) return printAs(output, created, io)
    if (values['dry-run']) return
    const { clientID } = asShown(created).status ?? {}
    note(io, 'Its client ID:')
    io.out(`${plain(String(clientID))}\n`)
  },
})

/** Returns the claims, each with its values. Throws a UsageError for a text of another form. */
function claimsIn(texts: readonly string[]): JsonObject[] {
  const claims = new Map<string, string[]>()
  for (const text of texts) {
    const [, claim = '', value = ''] = /^([^=]+)=(.+)$/s.exec(text) ?? []
    if (claim === '') throw new UsageError(`--claim must be CLAIM=VALUE, not "${text}"`)
    claims.set(claim, [...(claims.get(claim) ?? []), value])
  }
  if (claims.size === 0)
    throw new UsageError('--claim is missing.', 'Without claims the trust would be for every job of the provider.')
  return [...claims].map(([claim, values]) => ({ claim, values }))
}
