/** Validates a scope beyond its schema. Specification section 2.3. */
import {
  type FieldError,
  forbidden,
  invalid,
  notSupported,
  required,
  tooLong,
} from '../../engine/meta/errors/fielderror.ts'
import { byteLength, MAX_CHAIN_BYTES, SCOPE_PATH } from './chain.ts'
import { ROLE_NAMES, type RoleEntry } from './roles.ts'
import type { Scope } from './scope.ts'
import { validateRule } from './validaterule.ts'
import { isView } from './view.ts'

/**
 * Returns the 422 errors for a scope that matches its schema. A scope over 4 KiB is rejected without further
 * validation.
 */
export function validateScope(scope: Scope | undefined): FieldError[] {
  if (scope === undefined) return []
  if (byteLength(scope) > MAX_CHAIN_BYTES) return [tooLong(SCOPE_PATH, MAX_CHAIN_BYTES)]
  return [
    ...each(scope.roles, `${SCOPE_PATH}.roles`, validateRole),
    ...each(scope.projects, `${SCOPE_PATH}.projects`, ({ project }, at) => name(project, `${at}.project`, '*')),
    ...each(scope.spaces, `${SCOPE_PATH}.spaces`, ({ project, space }, at) => [
      ...name(project, `${at}.project`),
      ...name(space, `${at}.space`, '*'),
    ]),
    ...each(scope.virtualClusters, `${SCOPE_PATH}.virtualClusters`, ({ project, virtualCluster }, at) => [
      ...name(project, `${at}.project`),
      ...name(virtualCluster, `${at}.virtualCluster`, '*'),
    ]),
    ...each(scope.clusters, `${SCOPE_PATH}.clusters`, ({ cluster }, at) => name(cluster, `${at}.cluster`, '*')),
    ...each(scope.rules, `${SCOPE_PATH}.rules`, validateRule),
  ]
}

const each = <T>(list: readonly T[] | undefined, path: string, check: (one: T, path: string) => FieldError[]) =>
  (list ?? []).flatMap((one, index) => check(one, `${path}[${index}]`))

function validateRole(entry: RoleEntry, path: string): FieldError[] {
  const { role, projects, virtualClusters } = entry
  const errors: FieldError[] = []
  if (!role) errors.push(required(`${path}.role`))
  else if (!ROLE_NAMES.includes(role)) errors.push(notSupported(`${path}.role`, role, ROLE_NAMES))
  if (isView(entry))
    for (const member of ['projects', 'virtualClusters'] as const)
      if (entry[member]?.length)
        errors.push(forbidden(`${path}.${member}`, `the lists of ${SCOPE_PATH} say where role ${role} holds`))
  return [
    ...errors,
    ...each(projects, `${path}.projects`, (project, at) => name(project, at, '*')),
    ...each(virtualClusters, `${path}.virtualClusters`, (listed, at) => {
      if (listed === '*') return []
      const [project, virtualCluster, ...more] = listed.split('/')
      if (virtualCluster === undefined) {
        if (listed !== '' && !projects?.length)
          return [invalid(at, listed, 'must be PROJECT/NAME where projects is empty')]
        return name(listed, at)
      }
      if (project === '' || virtualCluster === '' || more.length > 0)
        return [invalid(at, listed, 'must be NAME, PROJECT/NAME or *')]
      return [...name(project, at), ...name(virtualCluster, at, '*')]
    }),
  ]
}

/**
 * Validates a name: it must be present and a single path segment. The wildcard is valid only as the whole name, and
 * only where it has a meaning.
 */
function name(value: string | undefined, path: string, wildcard?: '*'): FieldError[] {
  if (value === undefined || value === '') return [required(path)]
  if (value === wildcard) return []
  if (value.includes('*'))
    return [invalid(path, value, wildcard ? 'must be a name or *' : 'may not contain a wildcard')]
  return value.includes('/') ? [invalid(path, value, "may not contain '/'")] : []
}
