/**
 * Spaces: space S of project P is the namespace of that name in every connected cluster. How it is named a deployment
 * says once, by a text such as `p-{project}-s-{space}`, so that a namespace can be read back without asking anybody.
 */
import { dnsLabelErrors } from '../../meta/object/names.ts'

/** What stands before, between and behind the two names. */
export interface SpaceNamespace {
  prefix: string
  separator: string
  suffix: string
}

export interface SpaceOptions {
  spaceNamespace: SpaceNamespace
}

/** Lengths leave half of a DNS label to the two names. */
const SETTING =
  /^(?<prefix>([a-z0-9][-a-z0-9]{0,15})?)\{project\}(?<separator>[-a-z0-9]{1,8})\{space\}(?<suffix>([-a-z0-9]{0,7}[a-z0-9])?)$/

/** The setting of a deployment. Throws where its namespaces would be no DNS labels, or say nothing of both names. */
export function parseSpaceNamespace(setting: string): SpaceNamespace {
  const { prefix, separator, suffix } = SETTING.exec(setting)?.groups ?? {}
  if (prefix === undefined || separator === undefined || suffix === undefined) {
    throw new Error('the namespaces of spaces must be DNS labels such as p-{project}-s-{space}')
  }
  return { prefix, separator, suffix }
}

/**
 * The space that a namespace is; undefined for every other one. A namespace in which the separator stands more than
 * once could be the space of two projects: it is nobody's.
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
