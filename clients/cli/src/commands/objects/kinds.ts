/** Lists the kinds of objects that people list, show and delete with the same commands. */
import { scopeWords } from '../../../../../lib/access/scopes/words.ts'
import type { JsonObject } from '../../../../../lib/engine/meta/types.ts'
import { duration } from '../../../../core/src/durations.ts'
import { projectIn } from '../../../../core/src/projects.ts'
import { demandName, providersPath, trustsPath } from '../../api/keys.ts'
import { projectNamespace, projectPrefix } from '../../api/projects.ts'
import { API, type Session } from '../../api/session.ts'
import { virtualCluster } from '../../api/target.ts'
import type { Named } from '../../arguments/command.ts'

type Facts = [string, string | undefined][]

/** An object of one of the kinds. Every field may be absent. */
export interface Shown {
  metadata: {
    name: string
    namespace?: string
    uid?: string
    creationTimestamp?: string
    labels?: Record<string, string>
  }
  // biome-ignore lint/suspicious/noExplicitAny: the columns of each kind know its fields
  spec: any
  // biome-ignore lint/suspicious/noExplicitAny: the columns of each kind know its fields
  status: any
}

export interface Kind {
  /** The words of the commands, for one and for several. */
  word: string
  one: string
  many: string
  /** What the argument names. */
  placeholder: string
  names: Named
  /** What a deletion ends. */
  ends: string
  list(session: Session): Promise<string>
  path(session: Session, name: string): Promise<string>
  /** Returns the parts of the address of its page of the console. */
  page(session: Session, name: string): Promise<string[]>
  /** Returns the name of the object as people write it. */
  nameOf(object: Shown, prefix: string): string
  columns: readonly (readonly [header: string, value: (object: Shown) => string])[]
  facts(object: Shown): Facts
}

const ownerIn = ({ spec = {}, status = {} }: Shown): string =>
  status.owner ?? spec.user ?? (spec.team && `team:${spec.team}`) ?? ''

const claimsOf = ({ spec = {} }: Shown): string =>
  ((spec.claims ?? []) as { claim: string; values?: string[]; patterns?: string[] }[])
    .map(({ claim, values = [], patterns = [] }) => `${claim}=${[...values, ...patterns].join('|')}`)
    .join(', ')

const refusalOf = ({ status = {} }: Shown): string | undefined => {
  const { time, subject, message } = status.lastRefusal ?? {}
  return message && `${time}, ${subject}: ${message}`
}

const named = (path: () => string, of: string) => async (_: Session, name: string) => {
  demandName(name, of)
  return `${path()}/${encodeURIComponent(name)}`
}

export const trusts: Kind = {
  word: 'trusts',
  one: 'trust',
  many: 'trusts',
  placeholder: 'NAME',
  names: 'trusts',
  ends: 'Its keys end, and its jobs get none.',
  list: async () => trustsPath(),
  path: named(trustsPath, 'a trust'),
  page: async (_, name) => ['trusts', 'credentials', name],
  nameOf: ({ metadata }) => metadata.name,
  columns: [
    ['PROVIDER', ({ spec }) => spec?.identityProvider ?? ''],
    ['OWNER', ownerIn],
    ['MAY DO', ({ spec }) => scopeWords(spec?.scope)],
    ['STATE', ({ status }) => (status?.phase ?? 'unknown').toLowerCase()],
    ['CLAIMS', claimsOf],
  ],
  facts: (trust) => [
    ['Display name', trust.spec?.displayName],
    ['Description', trust.spec?.description],
    ['Provider', trust.spec?.identityProvider],
    ['Client ID', trust.status?.clientID],
    ['Owner', ownerIn(trust)],
    ['Claims', claimsOf(trust)],
    ['May do', scopeWords(trust.spec?.scope)],
    ['Keys live', trust.spec?.ttl === undefined ? undefined : duration(Number(trust.spec.ttl))],
    ['Gives', trust.spec?.tokensOnly ? 'tokens of clusters only' : undefined],
    ['State', (trust.status?.phase ?? 'unknown').toLowerCase()],
    ['Refused last', refusalOf(trust)],
    ['Clusters ask with it', trust.status?.mayReview ? 'yes: without it they refuse all users of keyplane' : undefined],
  ],
}

export const providers: Kind = {
  word: 'providers',
  one: 'identity provider',
  many: 'identity providers',
  placeholder: 'NAME',
  names: 'providers',
  ends: 'Its trusts give no keys, and those that they gave end.',
  list: async () => providersPath(),
  path: named(providersPath, 'an identity provider'),
  page: async (_, name) => ['trusts', 'providers', name],
  nameOf: ({ metadata }) => metadata.name,
  columns: [
    ['ISSUER', ({ spec }) => spec?.issuer ?? ''],
    ['STATE', ({ status }) => (status?.phase ?? 'unknown').toLowerCase()],
    ['DISPLAY NAME', ({ spec }) => spec?.displayName ?? ''],
  ],
  facts: ({ spec = {}, status = {} }) => [
    ['Display name', spec.displayName],
    ['Description', spec.description],
    ['Issuer', spec.issuer],
    ['State', (status.phase ?? 'unknown').toLowerCase()],
  ],
}

export const virtualClusters: Kind = {
  word: 'virtual-clusters',
  one: 'virtual cluster',
  many: 'virtual clusters',
  placeholder: 'PROJECT/NAME',
  names: 'virtual-clusters',
  ends: 'Nobody gets kube configs of it from keyplane. The virtual cluster itself goes on.',
  list: async () => `${API}/virtualclusterinstances`,
  async path(session, name) {
    const target = virtualCluster(name)
    return `${API}/namespaces/${await projectNamespace(session, target.project)}/virtualclusterinstances/${encodeURIComponent(target.name)}`
  },
  async page(session, name) {
    const target = virtualCluster(name)
    return ['virtual-clusters', await projectNamespace(session, target.project), target.name]
  },
  nameOf: ({ metadata }, prefix) =>
    `${projectIn(metadata.namespace ?? '', prefix) ?? metadata.namespace}/${metadata.name}`,
  columns: [
    ['OWNER', ({ spec }) => spec?.owner?.user ?? (spec?.owner?.team ? `team:${spec.owner.team}` : '')],
    ['STATE', ({ status }) => (status?.phase ?? '').toLowerCase()],
    ['DISPLAY NAME', ({ spec }) => spec?.displayName ?? ''],
  ],
  facts: ({ spec = {}, status = {} }) => [
    ['Display name', spec.displayName],
    ['Description', spec.description],
    ['Owner', spec.owner?.user ?? (spec.owner?.team && `team:${spec.owner.team}`)],
    ['State', status.phase?.toLowerCase()],
  ],
}

/** Returns the prefix by which names of objects show their project. */
export const prefixFor = (kind: Kind, session: Session): Promise<string> =>
  kind === virtualClusters ? projectPrefix(session) : Promise.resolve('')

export const asShown = (object: JsonObject): Shown => object as unknown as Shown
