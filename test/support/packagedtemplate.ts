/** Reads the packaged template for the tests of a file. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll } from 'vitest'
import { functionNames } from '../../infra/build.ts'
import { type Deployment, readTemplate } from '../../infra/local/gateway/template.ts'
import { ensurePackaged } from '../../infra/package.ts'
import type { Template } from '../../infra/settings/evaluate.ts'

export interface Resource {
  Type: string
  DeletionPolicy?: string
  UpdateReplacePolicy?: string
  DependsOn?: string[]
  // biome-ignore lint/suspicious/noExplicitAny: properties of many resource types.
  Properties: Record<string, any>
}

export interface PackagedTemplate {
  /** The CloudFormation template with the default settings as JSON. */
  readonly text: string
  /** The template for every stage and all settings. */
  readonly parametrized: Template
  /** Resources by logical ID. */
  readonly resources: Readonly<Record<string, Resource>>
  /** The template as the local gateway reads it. */
  readonly deployment: Deployment
  /** Sorted paths of the functions below functions/. */
  readonly names: readonly string[]
  /** Returns the resources of a type with their logical IDs. */
  ofType(type: string): [string, Resource][]
}

/** Packages the project when necessary. `refs` are the values of references for the local gateway. */
export function usePackagedTemplate(refs: Readonly<Record<string, string>> = {}): PackagedTemplate {
  let text: string
  let parametrized: Template
  let resources: Record<string, Resource>
  let names: string[]
  let deployment: Deployment | undefined
  beforeAll(async () => {
    const { template, parametrized: path } = await ensurePackaged({ quiet: true })
    parametrized = JSON.parse(await readFile(path, 'utf8'))
    text = await readFile(template, 'utf8')
    resources = JSON.parse(text).Resources
    names = await functionNames(join(import.meta.dirname, '../..'))
  })
  return {
    get text() {
      return text
    },
    get parametrized() {
      return parametrized
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
