/** Says in words what a cluster is like. */

import { opens } from '../../../../core/src/accessrules.ts'
import type { Cluster, VirtualCluster } from '../../../../core/src/objects.ts'
import { type AccessRule, namedIn } from '../../text/access.ts'
import type { Place } from './ways.ts'

export interface State {
  tone: 'good' | 'warn' | 'bad' | 'plain'
  /** One or two words. They may be those of others. */
  text: string
  /** Sentences that explain it, of others. */
  details: string[]
}

const TONES: Readonly<Record<string, State['tone']>> = { ready: 'good', running: 'good', failed: 'bad', error: 'bad' }

/** A cluster as the page shows it. */
export interface Shown {
  uid: string
  place: Place
  displayName: string | undefined
  state?: State
  facts: readonly (readonly [term: string, text: string])[]
  canUse: boolean
  /** Why there are no kube configs of it. */
  missing?: string
}

/** Returns the state. keyplane does not watch virtual clusters: it is what their operators report. */
export function stateOf({ metadata, status = {} }: VirtualCluster): State {
  const { phase = '', reason, message, conditions = [] } = status
  const failing = conditions.filter((one) => one.status !== 'True' && (one.message || one.reason || one.severity))
  const details = [
    message || reason,
    ...failing.map(({ type, ...one }) => `${type}: ${one.message || one.reason || one.severity}`),
  ]
  const said = details.filter((one) => one !== undefined && one !== '') as string[]
  if (metadata.deletionTimestamp) return { tone: 'warn', text: 'Being deleted', details: said }
  if (phase === '') return { tone: 'plain', text: 'Nothing reported', details: said }
  const isBroken = failing.some(({ severity = 'Error' }) => severity === 'Error')
  const tone = TONES[phase.toLowerCase()] ?? 'plain'
  return { tone: tone === 'good' && isBroken ? 'warn' : tone, text: phase, details: said }
}

/** Returns `user alice`, `team shop`, or `nobody`. */
export function ownerOf({ spec }: VirtualCluster): string {
  const { user, team } = spec?.owner ?? {}
  return user ? `user ${user}` : team ? `team ${team}` : 'nobody'
}

/** Returns the host of the endpoint, or undefined if there is none that clients can use. */
export function endpointOf({ spec }: VirtualCluster): string | undefined {
  const { enabled, host } = spec?.accessPoint?.ingress ?? {}
  return enabled === false || !host ? undefined : host
}

/** Returns who gets kube configs of a cluster: `administrators, team shop`. */
export const usersOf = (access: readonly AccessRule[] = [], owner = 'nobody'): string =>
  [...new Set(['administrators', ...(owner === 'nobody' ? [] : [owner]), ...namedIn(access.filter(opens))])].join(', ')

/** Returns who issues the tokens of a connected cluster. */
export function tokensOf({ tokens, credentials }: NonNullable<Cluster['spec']>): string {
  if (tokens !== 'ServiceAccounts') return 'keyplane signs them, and the cluster asks it about each'
  const { clusterName, region } = credentials?.eks ?? {}
  return `service accounts of the cluster issue them${clusterName ? `, in Amazon EKS: ${clusterName}, ${region}` : ''}`
}

/** Returns PROJECT/NAME, or NAME for a connected cluster. */
export const placeName = ({ project, namespace, name }: Place): string =>
  namespace === undefined ? name : `${project ?? namespace}/${name}`

/** Returns what a filter searches. */
export const textOf = ({ place, displayName, facts, state }: Shown): string =>
  [placeName(place), displayName, ...facts.map(([, fact]) => fact), state?.text].join('\n')
