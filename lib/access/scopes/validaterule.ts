/**
 * Validates rules. Specification section 2.3; the messages match those for Kubernetes audit policies and
 * webhook rules.
 */
import { type FieldError, invalid, required } from '../../engine/meta/errors/fielderror.ts'
import { isPattern, patternsOverlap, type Rule } from './rules.ts'

type Resources = NonNullable<Rule['resources']>[number]

/** Returns the 422 errors for one rule at `path` (`spec.scope.rules[0]`). */
export function validateRule(rule: Rule, path: string): FieldError[] {
  const { verbs = [], resources = [], resourceNames = [], namespaces = [], nonResourceURLs = [] } = rule
  const errors = verbs.flatMap((verb, index) => (verb === '' ? [required(`${path}.verbs[${index}]`)] : []))
  errors.push(...resources.flatMap((entry, index) => validateResources(entry, `${path}.resources[${index}]`)))
  if (resourceNames.length > 0 && resources.length === 0) {
    errors.push(invalid(`${path}.resourceNames`, resourceNames, 'using resourceNames requires resources'))
  }
  if (nonResourceURLs.length > 0 && (resources.length > 0 || namespaces.length > 0)) {
    const why = 'rules cannot apply to both regular resources and non-resource URLs'
    errors.push(invalid(`${path}.nonResourceURLs`, nonResourceURLs, why))
  }
  errors.push(...nonResourceURLs.flatMap((url, index) => validateURL(url, `${path}.nonResourceURLs[${index}]`)))
  return [...errors, ...validateTargets(rule, path)]
}

function validateResources({ group = '', resources = [], resourceNames = [] }: Resources, path: string): FieldError[] {
  const errors: FieldError[] = []
  if (group !== '' && !/^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/.test(group)) {
    errors.push(invalid(`${path}.group`, group, 'must be an API group; empty is the core group'))
  }
  for (const [index, pattern] of resources.entries()) {
    const at = `${path}.resources[${index}]`
    if (pattern === '') errors.push(required(at))
    else if (!isPattern(pattern)) {
      errors.push(
        invalid(at, pattern, 'must be a resource, a resource/subresource, or a wildcard such as *, pods/* or */log'),
      )
    }
    const rival = resources.slice(0, index).find((other) => isWild(other, pattern) && patternsOverlap(other, pattern))
    if (rival !== undefined)
      errors.push(invalid(at, pattern, `overlaps '${rival}': with a wildcard, resources must not overlap`))
  }
  if (resourceNames.length > 0 && resources.length === 0) {
    errors.push(invalid(`${path}.resourceNames`, resourceNames, 'using resourceNames requires at least one resource'))
  }
  return errors
}

const isWild = (...patterns: string[]): boolean => patterns.some((pattern) => pattern.includes('*'))

function validateURL(url: string, path: string): FieldError[] {
  if (url === '') return [required(path)]
  if (url === '*') return []
  if (!url.startsWith('/')) return [invalid(path, url, "must begin with '/'")]
  return /^[^*]*(\/\*)?$/.test(url)
    ? []
    : [invalid(path, url, "a wildcard '*' must be the full final step of the path")]
}

/** Rejects a restriction to clusters of a kind that the rule's own targets exclude: such a rule would allow nothing. */
function validateTargets({ requestTargets = [], cluster, virtualClusters = [] }: Rule, path: string): FieldError[] {
  const errors: FieldError[] = []
  const leavesOut = (target: (typeof requestTargets)[number]) =>
    requestTargets.length > 0 && !requestTargets.includes(target)
  if (cluster && leavesOut('Cluster')) {
    errors.push(invalid(`${path}.cluster`, cluster, 'requires the request target Cluster'))
  }
  if (virtualClusters.length > 0 && leavesOut('ProjectVirtualCluster')) {
    errors.push(
      invalid(`${path}.virtualClusters`, virtualClusters, 'requires the request target ProjectVirtualCluster'),
    )
  }
  if (cluster && virtualClusters.length > 0) {
    errors.push(invalid(`${path}.virtualClusters`, virtualClusters, 'may not be used together with cluster'))
  }
  return errors
}
