/** Formats and parses the group and version of an apiVersion. Source: k8s.io/apimachinery/pkg/runtime/schema/group_version.go. */
import type { GroupVersionKind } from './types.ts'

/** Returns the apiVersion: `example.test/v1`, or only the version in the core group. */
export const groupVersion = ({ group, version }: Pick<GroupVersionKind, 'group' | 'version'>): string =>
  group ? `${group}/${version}` : version

/** Returns the group and version of an apiVersion; both are empty if it contains more than one slash. */
export function parseGroupVersion(apiVersion: string): { group: string; version: string } {
  const parts = apiVersion.split('/')
  if (parts.length > 2) return { group: '', version: '' }
  const [group = '', version = ''] = parts.length === 1 ? ['', ...parts] : parts
  return { group, version }
}
