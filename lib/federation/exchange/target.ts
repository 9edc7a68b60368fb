/** Reads which cluster or virtual cluster an exchange asks a token for. Reads nothing from the store. */
import { type Place, parsePlace } from '../../access/scopes/place.ts'
import type { ScopeOptions } from '../../access/scopes/project.ts'
import { placeOfAudience } from '../../clusters/token/audience.ts'
import type { Form } from '../oauth/form.ts'
import { OAuthError, quoteValue } from '../oauth/oautherror.ts'

/** A place as a client names it. The logical name of a virtual cluster has no uid. */
export type Target =
  | Extract<Place, { type: 'cluster' }>
  | (Omit<Extract<Place, { type: 'virtualCluster' }>, 'uid'> & { uid?: string })

export interface TargetSettings extends ScopeOptions {
  issuer: string
}

/** Stands for the uid, which a logical name does not have. */
const ANY_UID = '0'

/**
 * Returns the target: `audience` is a logical name (`clusters/NAME`, `virtualclusters/PROJECT/NAME`), and `resource` the audience of the
 * tokens (RFC 8693 section 2.1). Throws invalid_target for anything else, and for both.
 */
export function readTarget(form: Form, { issuer, projectNamespacePrefix }: TargetSettings): Target | undefined {
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

const unknownTarget = (description: string): OAuthError => new OAuthError('invalid_target', 'malformed', description)
