/** Lists the virtual clusters that a key may see. */
import { listAll } from './lists.ts'
import { projectNamespace } from './projects.ts'
import { API, type Session } from './session.ts'

export interface Instance {
  name: string
  namespace: string
}

/** Returns the virtual clusters of a project, or of all projects, in the order of the server. */
export async function listInstances(session: Session, project: string | undefined): Promise<Instance[]> {
  const place = project === undefined ? '' : `/namespaces/${await projectNamespace(session, project)}`
  const { items } = await listAll(session, `${API}${place}/virtualclusterinstances`)
  return items.flatMap(({ metadata }) => {
    const { name, namespace } = (metadata ?? {}) as Partial<Instance>
    return name === undefined || namespace === undefined ? [] : [{ name, namespace }]
  })
}
