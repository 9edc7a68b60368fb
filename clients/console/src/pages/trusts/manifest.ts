/** Objects as a person would apply them: without what the server computes. */
import type { Metadata } from '../../../../core/src/objects.ts'
import { type Json, toYaml } from '../../text/yaml.ts'

export interface Manifest<Spec> {
  apiVersion: string
  kind: string
  metadata: Partial<Metadata>
  spec: Spec
}

export const manifestOf = <Spec>(kind: string, metadata: Partial<Metadata>, spec: Spec): Manifest<Spec> => ({
  apiVersion: 'management.platform/v1',
  kind,
  metadata,
  spec,
})

/** Returns the YAML with which an existing object could be made again. */
export function appliedYaml(kind: string, { metadata, spec }: { metadata: Metadata; spec: object }): string {
  const { name, labels, annotations } = metadata
  return yamlOf(manifestOf(kind, { name, ...(labels && { labels }), ...(annotations && { annotations }) }, spec))
}

/** Returns the objects as one file. */
export const yamlOf = (...objects: readonly object[]): string =>
  objects.map((one) => toYaml(one as unknown as Json)).join('---\n')
