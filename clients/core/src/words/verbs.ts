/** Knows the verbs of requests, as RBAC and kubectl have them. */
import { nearest } from './nearest.ts'

const OF_RESOURCES = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection', '*']
const OF_RBAC = ['use', 'bind', 'escalate', 'impersonate', 'approve', 'sign', 'attest']
const OF_PATHS = ['get', 'put', 'post', 'head', 'options', 'delete', 'patch', '*']

/** What a verb is asked of. `isHere` says that this is the management API. */
export interface AskedOf {
  isPath: boolean
  isHere: boolean
}

/**
 * Returns what is wrong with a verb, or undefined. Elsewhere than here a verb may be one of a custom resource, such as `sync`, unless it
 * looks like a mistyped one.
 */
export function verbProblem(verb: string, { isPath, isHere }: AskedOf): string | undefined {
  const known = isPath ? OF_PATHS : [...OF_RESOURCES, ...OF_RBAC]
  if (known.includes(verb)) return undefined
  const guess = nearest(verb, known)
  if (guess !== undefined) return `"${verb}" is not a verb: did you mean "${guess}"?`
  if (!isHere && !isPath) return undefined
  return `"${verb}" is not a verb: it is one of ${(isPath ? OF_PATHS : OF_RESOURCES).join(', ')}.`
}
