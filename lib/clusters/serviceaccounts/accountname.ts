/**
 * Names the service accounts of users. No two identities share one: what makes a name unreadable for Kubernetes is replaced by a digest
 * of the exact identity.
 */
import { createHash } from 'node:crypto'
import { insideOf } from '../../access/restriction.ts'
import type { NamedPlace } from '../../access/scopes/place.ts'
import type { ScopeOptions } from '../../access/scopes/project.ts'
import type { ScopeChain } from '../../access/scopes/scope.ts'
import { VIEW } from '../../access/scopes/view.ts'
import type { Identity } from '../../access/users/user.ts'

/** A DNS label. It contains no dot, so a name of the other form never equals one of this form. */
const LABEL = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/
/** Enough to recognise somebody. The whole name is shorter than the 253 characters that Kubernetes allows. */
const READABLE = 40
/** 128 bits: nobody finds two identities with the same digest. */
const HEX_DIGITS = 32

/**
 * Returns the name of the account of an identity: `user.NAME`, `team.NAME` or `subject.NAME` if NAME is a DNS label, such as
 * `user.alice`. Otherwise a readable part of NAME and a digest of the identity follow the type: `user.alice-example-com.DIGEST`.
 */
export function accountName(identity: Identity): string {
  const end = identity.indexOf(':')
  const [type, name] = [identity.slice(0, end), identity.slice(end + 1)]
  if (LABEL.test(name)) return `${type}.${name}`
  // Of UTF-16, because the UTF-8 of every lone surrogate is the same.
  const digest = createHash('sha256').update(identity, 'utf16le').digest('hex').slice(0, HEX_DIGITS)
  const words =
    name
      .slice(0, 4 * READABLE)
      .toLowerCase()
      .match(/[a-z0-9]+/g) ?? []
  const readable = words.join('-').slice(0, READABLE).replace(/-$/, '')
  return [type, ...(readable === '' ? [] : [readable]), digest].join('.')
}

/**
 * Returns the name of the account that stands in a cluster for an identity with this chain of scopes: that of the identity, or the one beside
 * it, `user.alice.view`, where the chain allows what the role view does. No digest is `view`, so it is no other identity's. Undefined
 * for a chain that no account can stand for.
 */
export function accountFor(
  identity: Identity,
  chain: ScopeChain,
  place: NamedPlace,
  options: ScopeOptions,
): string | undefined {
  const inside = insideOf(chain, place, options)
  if (inside === undefined) return undefined
  return inside === 'view' ? `${accountName(identity)}.${VIEW}` : accountName(identity)
}

/** Reports whether the account is one for the role view. */
export const isViewer = (account: string): boolean => account.endsWith(`.${VIEW}`) && account.split('.').length > 2
