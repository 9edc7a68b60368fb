/** Tells which namespace has the objects of a project: that of the deployment's prefix and the name of the project. */
import { prefixOf } from '../../../core/src/projects.ts'
import { readSelf } from './self.ts'
import type { Session } from './session.ts'

const asked = new WeakMap<Session, Promise<string>>()

/** Returns the prefix of the namespaces of projects: that of the context, or what the server says, which is asked once. */
export function projectPrefix(session: Session): Promise<string> {
  const known = asked.get(session) ?? readPrefix(session)
  asked.set(session, known)
  return known
}

export const projectNamespace = async (session: Session, project: string): Promise<string> =>
  `${await projectPrefix(session)}${project}`

async function readPrefix(session: Session): Promise<string> {
  return session.projectNamespacePrefix ?? prefixOf((await readSelf(session)).status)
}
