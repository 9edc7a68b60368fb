/** Lists the virtual clusters that a key may see, and says what of a scope is not among them. */
import type { Scope } from '../../../core/src/objects.ts'
import { byProject, placesIn, unknownPlaces } from '../../../core/src/words/places.ts'
import type { Io } from '../io/io.ts'
import { note } from '../output/messages.ts'
import { listAll } from './lists.ts'
import { projectNamespace, projectPrefix } from './projects.ts'
import { API, type Session } from './session.ts'
import { StatusError } from './status.ts'

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

/** Names the projects and virtual clusters of a scope that the key of the session does not see. If it may not look, nothing is said. */
export async function hintAtPlaces(io: Io, session: Session, scope: Scope = {}): Promise<void> {
  const places = placesIn(scope)
  if (places.length === 0) return
  try {
    const instances = await listInstances(session, undefined)
    const known = byProject(instances, await projectPrefix(session))
    for (const sentence of unknownPlaces(places, known)) note(io, sentence)
  } catch (error) {
    if (!(error instanceof StatusError)) throw error
  }
}
