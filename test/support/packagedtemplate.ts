/** Reads the packaged template for the tests of a file. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll } from 'vitest'
import { functionNames } from '../../infra/build.ts'
import { type Deployment, deployed } from '../../infra/local/gateway/deployment.ts'
import { ensurePackaged } from '../../infra/package.ts'
import { evaluate, type Template } from '../../infra/settings/evaluate.ts'

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
  /** The deployment that the local gateway serves. */
  readonly deployment: Deployment
  /** Sorted paths of the functions below functions/. */
  readonly names: readonly string[]
  /** Returns the resources of a type with their logical IDs. */
  ofType(type: string): [string, Resource][]
}

/** Returns the template for every stage and all settings. Packages the project when necessary. */
export async function readPackagedTemplate(): Promise<Template> {
  const { parametrized } = await ensurePackaged({ quiet: true })
  return JSON.parse(await readFile(parametrized, 'utf8'))
}

/** Returns the resources and outputs of stage dev with the default settings as JSON. */
export const defaultTemplate = (template: Template): string =>
  JSON.stringify(evaluate(template, { Stage: 'dev' }), null, 2)

/** Packages the project when necessary. */
export function usePackagedTemplate(): PackagedTemplate {
  let text: string
  let parametrized: Template
  let resources: Record<string, Resource>
  let names: string[]
  beforeAll(async () => {
    parametrized = await readPackagedTemplate()
    text = defaultTemplate(parametrized)
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
    deployment: deployed,
    get names() {
      return names
    },
    ofType: (type) => Object.entries(resources).filter(([, resource]) => resource.Type === type),
  }
}
