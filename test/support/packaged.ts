/** The packaged template, as the tests of a file read it. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll } from 'vitest'
import { functionNames } from '../../infra/build.ts'
import { type Deployment, readTemplate } from '../../infra/local/gateway/template.ts'
import { ensurePackaged } from '../../infra/package.ts'

export interface Resource {
  Type: string
  DeletionPolicy?: string
  UpdateReplacePolicy?: string
  DependsOn?: string[]
  // biome-ignore lint/suspicious/noExplicitAny: properties of many resource types.
  Properties: Record<string, any>
}

export interface PackagedTemplate {
  /** JSON of CloudFormation. */
  readonly text: string
  /** By logical id. */
  readonly resources: Readonly<Record<string, Resource>>
  /** As the local gateway reads it. */
  readonly deployment: Deployment
  /** Paths of the functions below functions/, sorted. */
  readonly names: readonly string[]
  /** Resources of a type, with their logical ids. */
  ofType(type: string): [string, Resource][]
}

/** Packages what is not packaged. `refs`: what the local gateway takes references for. */
export function usePackaged(refs: Readonly<Record<string, string>> = {}): PackagedTemplate {
  let text: string
  let resources: Record<string, Resource>
  let names: string[]
  let deployment: Deployment | undefined
  beforeAll(async () => {
    const { template } = await ensurePackaged({ quiet: true })
    text = await readFile(template, 'utf8')
    resources = JSON.parse(text).Resources
    names = await functionNames(join(import.meta.dirname, '../..'))
  }, 120_000)
  return {
    get text() {
      return text
    },
    get resources() {
      return resources
    },
    get deployment() {
      deployment ??= readTemplate(text, { refs, region: 'eu-central-1', account: '0' })
      return deployment
    },
    get names() {
      return names
    },
    ofType: (type) => Object.entries(resources).filter(([, resource]) => resource.Type === type),
  }
}
