/** `keyplane clusters show`: shows one connected cluster. */
import type { Cluster } from '../../../../core/src/objects.ts'
import { asCluster, clusterPath } from '../../api/clusters.ts'
import { openSession } from '../../api/session.ts'
import { command } from '../../arguments/command.ts'
import type { Io } from '../../io/io.ts'
import { printAs } from '../../output/print.ts'
import { facts } from '../../output/table.ts'
import { ago, withTime } from '../../output/times.ts'
import { showPage, webOption } from '../../output/web.ts'

export const clustersShow = command({
  name: ['clusters', 'show'],
  summary: 'Show a connected cluster: its address, and who gets kube configs of it',
  positionals: [{ name: 'NAME', help: 'name of the cluster', names: 'clusters' }],
  options: webOption,
  formats: ['json', 'yaml', 'name'],
  examples: [
    { does: 'Show a cluster', run: 'keyplane clusters show west' },
    { does: 'Show all its fields', run: 'keyplane clusters show west -o yaml' },
  ],
  async run({ values: { context, output, web }, positionals: [name = ''] }, io) {
    const path = clusterPath(name)
    const session = await openSession(io, { context })
    if (web) return showPage(io, session.server, ['clusters', name])
    const object = await session.get(path)
    if (output !== undefined) return printAs(output, object, io)
    io.out(facts(factsOf(asCluster(object), io)))
  },
})

/** Returns what a person wants to know of a cluster. */
export function factsOf({ metadata, spec = {}, status }: Cluster, io: Io): [string, string | undefined][] {
  const { access = [], certificateAuthorityData: authority } = spec
  return [
    ['Name', metadata.name],
    ['Display name', spec.displayName],
    ['Description', spec.description],
    ['Server', spec.server],
    ['Proxy', spec.proxyURL || undefined],
    ['TLS name', spec.tlsServerName || undefined],
    ['Authority', authority ? 'its own' : 'public ones'],
    ['Tokens', spec.tokens ?? 'Issuer'],
    ...access.map((rule): [string, string] => ['Access', accessWords(rule)]),
    ['Access', access.length === 0 ? 'administrators only' : undefined],
    ['You can use it', status?.canUse === undefined ? undefined : status.canUse ? 'yes' : 'no'],
    [
      'Created',
      metadata.creationTimestamp && withTime(ago(metadata.creationTimestamp, io.now()), metadata.creationTimestamp),
    ],
  ]
}

type Rule = NonNullable<NonNullable<Cluster['spec']>['access']>[number]

const accessWords = ({ verbs = [], users = [], teams = [] }: Rule): string =>
  `${verbs.join(', ')} for ${[...users, ...teams.map((team) => `team:${team}`)].join(', ') || 'nobody'}`
