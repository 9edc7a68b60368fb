/** Reads the packaged template for the tests of a file. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll } from 'vitest'
import { functionNames } from '../../infra/build.ts'
import { type Deployment, deployed } from '../../infra/local/gateway/deployment.ts'
import { evaluate, type Template } from './evaluatedtemplate.ts'
import { packaged } from './packaged.ts'

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
  readonly template: Template
  /** Resources by logical ID. */
  readonly resources: Readonly<Record<string, Resource>>
  /** The deployment that the local gateway serves. */
  readonly deployment: Deployment
  /** Sorted paths of the functions below functions/. */
  readonly names: readonly string[]
  /** Returns the resources of a type with their logical IDs. */
  ofType(type: string): [string, Resource][]
}

/** Returns the template for every stage and all settings. Packages the project when necessary. */
export async function readPackagedTemplate(): Promise<Template> {
  const { template } = await packaged()
  return JSON.parse(await readFile(template, 'utf8'))
}

/** Returns the resources and outputs of stage dev with the default settings as JSON. */
export const defaultTemplate = (template: Template): string =>
  JSON.stringify(evaluate(template, { Stage: 'dev' }), null, 2)

/** Packages the project when necessary. */
export function usePackagedTemplate(): PackagedTemplate {
  let text: string
  let template: Template
  let resources: Record<string, Resource>
  let names: string[]
  beforeAll(async () => {
    template = await readPackagedTemplate()
    text = defaultTemplate(template)
    resources = JSON.parse(text).Resources
    names = await functionNames(join(import.meta.dirname, '../..'))
  })
  return {
    get text() {
      return text
    },
    get template() {
      return template
    },
    get resources() {
      return resources
    },
    deployment: deployed,
    get names() {
      return names
    },
    ofType: (type) => Object.entries(resources).filter(([, resource]) => resource.Type === type),
  }
}
