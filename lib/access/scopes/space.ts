/**
 * Maps namespaces to spaces. Space S of project P is the namespace of the same name in every connected cluster. A
 * deployment defines the name by a template such as `p-{project}-s-{space}`, so that a namespace can be parsed without
 * a lookup.
 */
import { dnsLabelErrors } from '../../engine/meta/object/names.ts'

/** The text before, between and after the two names. */
interface SpaceNamespace {
  prefix: string
  separator: string
  suffix: string
}

export interface SpaceOptions {
  spaceNamespace: SpaceNamespace
}

/** The templates that there may be. The lengths reserve half of a DNS label for the two names. */
export const spaceNamespaces =
  /^(?<prefix>([a-z0-9][-a-z0-9]{0,15})?)\{project\}(?<separator>[-a-z0-9]{1,8})\{space\}(?<suffix>([-a-z0-9]{0,7}[a-z0-9])?)$/

/** Parses the template of a deployment. Throws when its namespaces would not be DNS labels or would omit a name. */
export function parseSpaceNamespace(setting: string): SpaceNamespace {
  const { prefix, separator, suffix } = spaceNamespaces.exec(setting)?.groups ?? {}
  if (prefix === undefined || separator === undefined || suffix === undefined) {
    throw new Error('the namespaces of spaces must be DNS labels such as p-{project}-s-{space}')
  }
  return { prefix, separator, suffix }
}

/**
 * Returns the space of a namespace, or undefined when it is not one. A namespace that contains the separator more than
 * once could belong to two projects, so it belongs to none.
 */
export function spaceOf(
  namespace: string,
  { spaceNamespace: { prefix, separator, suffix } }: SpaceOptions,
): { project: string; space: string } | undefined {
  if (!isLabel(namespace) || namespace.length < prefix.length + suffix.length) return undefined
  if (!namespace.startsWith(prefix) || !namespace.endsWith(suffix)) return undefined
  const names = namespace.slice(prefix.length, namespace.length - suffix.length)
  const at = names.indexOf(separator)
  if (at < 0 || at !== names.lastIndexOf(separator)) return undefined
  const [project, space] = [names.slice(0, at), names.slice(at + separator.length)]
  return isLabel(project) && isLabel(space) ? { project, space } : undefined
}

const isLabel = (text: string): boolean => dnsLabelErrors(text).length === 0
