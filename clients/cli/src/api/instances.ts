/** Lists the virtual clusters that a key may see. */
import type { JsonObject } from '../../../../lib/meta/types.ts'
import { projectNamespace } from './projects.ts'
import { API, type Session } from './session.ts'

const PAGE = 500

export interface Instance {
  name: string
  namespace: string
}

/** Returns the virtual clusters of a project, or of all projects, in the order of the server. Reads them in pages. */
export async function listInstances(session: Session, project: string | undefined): Promise<Instance[]> {
  const place = project === undefined ? '' : `/namespaces/${await projectNamespace(session, project)}`
  const found: Instance[] = []
  for (let next: string | undefined = ''; next !== undefined; ) {
    const page = await session.get(`${API}${place}/virtualclusterinstances`, {
      query: { limit: String(PAGE), ...(next && { continue: next }) },
    })
    for (const { metadata } of (page.items ?? []) as JsonObject[]) {
      const { name, namespace } = (metadata ?? {}) as Partial<Instance>
      if (name !== undefined && namespace !== undefined) found.push({ name, namespace })
    }
    next = (page.metadata as { continue?: string } | undefined)?.continue || undefined
  }
  return found
}
