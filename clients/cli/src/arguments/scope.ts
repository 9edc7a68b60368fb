/** Defines the options that make a scope: what a key or token may do at most. */
import type { JsonObject } from '../../../../lib/engine/meta/types.ts'
import { UsageError } from '../io/errors.ts'
import type { Values } from './command.ts'
import { projectAndName, split } from './lists.ts'

/** The roles of scopes: docs/scopes.md. */
export const ROLES = [
  ...(['agent', 'vcluster', 'network-peer', 'runner', 'workspace', 'platformCLI', 'selfRotate', 'view'] as const),
]

export const scopeOptions = {
  project: {
    type: 'string',
    multiple: true,
    value: 'PROJECT',
    help: 'allow a project with its spaces and virtual clusters',
  },
  'virtual-cluster': { type: 'string', multiple: true, value: 'PROJECT/NAME', help: 'allow a virtual cluster' },
  space: { type: 'string', multiple: true, value: 'PROJECT/NAME', help: 'allow a space' },
  cluster: { type: 'string', multiple: true, value: 'CLUSTER', help: 'allow a connected cluster' },
  role: {
    type: 'string',
    multiple: true,
    value: 'ROLE[=WHERE]',
    help: 'allow what a role allows, everywhere or in projects and virtual clusters: runner=shop,blog',
  },
  'self-rotate': { type: 'boolean', help: 'allow the key to rotate itself; it needs --ttl' },
  rule: {
    type: 'string',
    multiple: true,
    value: 'JSON',
    help: 'allow what a rule allows, such as {"verbs":["get"],"resources":[{"group":"","resources":["pods"]}]}; the server warns about a rule that another option can replace',
  },
} as const

/** Returns the scope that the options ask for; undefined if they ask for none. */
export function scopeOf(values: Values<typeof scopeOptions>): JsonObject | undefined {
  const scope: JsonObject = {
    ...listed('roles', [...values.role.map(roleOf), ...(values['self-rotate'] ? [{ role: 'selfRotate' }] : [])]),
    ...listed(
      'projects',
      split(values.project, '--project').map((project) => ({ project })),
    ),
    ...listed(
      'spaces',
      split(values.space, '--space').map((one) => {
        const { project, name } = projectAndName(one, '--space')
        return { project, space: name }
      }),
    ),
    ...listed(
      'virtualClusters',
      split(values['virtual-cluster'], '--virtual-cluster').map((one) => {
        const { project, name } = projectAndName(one, '--virtual-cluster')
        return { project, virtualCluster: name }
      }),
    ),
    ...listed(
      'clusters',
      split(values.cluster, '--cluster').map((cluster) => ({ cluster })),
    ),
    ...listed('rules', values.rule.map(ruleOf)),
  }
  return Object.keys(scope).length === 0 ? undefined : scope
}

const listed = (name: string, entries: JsonObject[]): JsonObject => (entries.length === 0 ? {} : { [name]: entries })

function roleOf(text: string): JsonObject {
  const [role = '', ...rest] = text.split('=')
  const places = rest.join('=')
  if (role === '' || (rest.length > 0 && places === '')) {
    throw new UsageError(`--role must be ROLE or ROLE=PROJECT, not "${text}"`)
  }
  const where = rest.length > 0 ? split([places], '--role') : []
  const projects = where.filter((one) => !one.includes('/'))
  const virtualClusters = where.filter((one) => one.includes('/'))
  for (const one of virtualClusters) projectAndName(one, '--role')
  return { role, ...(projects.length > 0 && { projects }), ...(virtualClusters.length > 0 && { virtualClusters }) }
}

/** Returns the rule in a text of JSON. Throws a UsageError for any other text. */
export function ruleOf(text: string): JsonObject {
  try {
    const rule: unknown = JSON.parse(text)
    if (typeof rule === 'object' && rule !== null && !Array.isArray(rule)) return rule as JsonObject
  } catch {
    // The message below says what is expected.
  }
  throw new UsageError(`--rule must be a JSON object, not ${text}`)
}
