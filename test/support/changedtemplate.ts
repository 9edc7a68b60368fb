/** Writes a changed copy of the packaged template, for a server with other limits than those of a deployment. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ensurePackaged } from '../../infra/package.ts'
import type { Resource } from './packagedtemplate.ts'

export interface ChangedTemplate {
  /** Path of the copy. */
  template: string
  remove(): Promise<void>
}

/** Returns a copy of the template in which `change` was applied to each resource. */
export async function changedTemplate(change: (resource: Resource) => void): Promise<ChangedTemplate> {
  const packaged = await ensurePackaged({ quiet: true })
  const content = JSON.parse(await readFile(packaged.template, 'utf8')) as { Resources: Record<string, Resource> }
  for (const resource of Object.values(content.Resources)) change(resource)
  const folder = await mkdtemp(join(tmpdir(), 'keyplane-template-'))
  const template = join(folder, 'template.json')
  await writeFile(template, JSON.stringify(content))
  return { template, remove: () => rm(folder, { recursive: true }) }
}
