/** Reads for which clusters and virtual clusters an exchange asks for tokens. Reads nothing from the store. */
import { type Place, parsePlace } from '../../access/scopes/place.ts'
import type { ScopeOptions } from '../../access/scopes/project.ts'
import { instanceEntry } from '../../clusters/deployment.ts'
import { placeOfAudience } from '../../clusters/token/audience.ts'
import type { Form } from '../oauth/form.ts'
import { malformed, OAuthError, quoteValue } from '../oauth/oautherror.ts'

/** A place as a client names it. The logical name of a virtual cluster has no uid. */
export type Target =
  | Extract<Place, { type: 'cluster' }>
  | (Omit<Extract<Place, { type: 'virtualCluster' }>, 'uid'> & { uid?: string })

export interface TargetSettings extends ScopeOptions {
  issuer: string
}

/** Stands for the uid, which a logical name does not have. */
const ANY_UID = '0'

/** Stands for the clusters that the scope of the trust names. */
export const NAMED_CLUSTERS = 'clusters/*'

/** What an exchange asks tokens for. Without a target, it asks for an access key. */
export type Targets = readonly Target[] | typeof NAMED_CLUSTERS

/** The most targets of a request. */
export const MOST_TARGETS = 20

/**
 * Returns the targets: `audience` is a logical name (`clusters/NAME`, `virtualclusters/PROJECT/NAME`), of which there may be several, and
 * `resource` the audience of the tokens (RFC 8693 section 2.1). Throws invalid_target for anything else, and for both.
 */
export function readTargets(form: Form, settings: TargetSettings): Targets {
  const { audiences = [] } = form
  if (audiences.length === 0 && form.get('audience') === NAMED_CLUSTERS && !form.has('resource')) return NAMED_CLUSTERS
  if (audiences.length === 0) return [readTarget(form, settings)].filter((one) => one !== undefined)
  if (audiences.length > MOST_TARGETS)
    throw malformed(`audience is given ${audiences.length} times, and at most ${MOST_TARGETS} are allowed`)
  if (audiences.includes(NAMED_CLUSTERS))
    throw malformed(`${NAMED_CLUSTERS} stands for all clusters: give no other audience`)
  const resource = form.get('resource')
  const targets = audiences.map((audience) =>
    readTarget(
      new Map([['audience', audience], ...(resource === undefined ? [] : [['resource', resource] as const])]),
      settings,
    ),
  )
  return demandDistinct(targets.filter((one) => one !== undefined))
}

/** Throws invalid_request for a target that is given twice, and for two whose contexts would have one name. */
function demandDistinct(targets: readonly Target[]): readonly Target[] {
  const names = targets.map(nameOf)
  const twice = names.find((name, index) => names.indexOf(name) < index)
  if (twice !== undefined) throw malformed(`audience names ${twice} twice`)
  const entries = targets.map(entryOf)
  const shared = entries.find((entry, index) => entries.indexOf(entry) < index)
  if (shared !== undefined)
    throw malformed(`two of the targets would be context ${shared} of the kube config: ask for them apart`)
  return targets
}

/** Returns the target of a request that has at most one. */
function readTarget(form: Form, { issuer, projectNamespacePrefix }: TargetSettings): Target | undefined {
  const [audience, resource] = [form.get('audience'), form.get('resource')]
  if (audience !== undefined && resource !== undefined)
    throw unknownTarget('audience and resource are both given: a token is for one of them')
  if (resource !== undefined) {
    const place = placeOfAudience(issuer, resource)
    if (place) return place
    throw unknownTarget(
      `resource ${quoteValue(resource)} is not known; known forms are ${issuer}/clusters/NAME, ${issuer}/virtualclusters/NAMESPACE/NAME/UID`,
    )
  }
  if (audience === undefined) return undefined
  const [kind, project, name, ...more] = audience.split('/')
  const isVirtual = kind === 'virtualclusters' && more.length === 0
  const place = parsePlace(isVirtual ? [kind, projectNamespacePrefix + project, name, ANY_UID].join('/') : audience)
  if (place?.type === 'cluster') return place
  if (isVirtual && place) return { type: 'virtualCluster', namespace: place.namespace, name: place.name }
  throw unknownTarget(
    `audience ${quoteValue(audience)} is not known; known forms are clusters/NAME, virtualclusters/PROJECT/NAME`,
  )
}

/** Returns the name of a target: `clusters/NAME` or `virtualclusters/NAMESPACE/NAME`. */
export const nameOf = (target: Target): string =>
  target.type === 'cluster' ? `clusters/${target.name}` : `virtualclusters/${target.namespace}/${target.name}`

/** Returns how kube configs name a target within the deployment. */
const entryOf = ({ name, ...target }: Target): string =>
  target.type === 'cluster' ? name : instanceEntry({ name, namespace: target.namespace })

const unknownTarget = (description: string): OAuthError => new OAuthError('invalid_target', 'malformed', description)
