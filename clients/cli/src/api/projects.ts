/** Tells which namespace has the objects of a project: that of the deployment's prefix and the name of the project. */
import { readSelf } from './self.ts'
import type { Session } from './session.ts'

/** What servers have that do not say it. */
const USUAL_PREFIX = 'p-'

const asked = new WeakMap<Session, Promise<string>>()

/** Returns the prefix of the namespaces of projects: that of the context, or what the server says, which is asked once. */
export function projectPrefix(session: Session): Promise<string> {
  const known = asked.get(session) ?? prefixOf(session)
  asked.set(session, known)
  return known
}

/** Returns the namespace of a project. */
export const projectNamespace = async (session: Session, project: string): Promise<string> =>
  `${await projectPrefix(session)}${project}`

async function prefixOf(session: Session): Promise<string> {
  if (session.projectNamespacePrefix !== undefined) return session.projectNamespacePrefix
  return (await readSelf(session)).status.projectNamespacePrefix ?? USUAL_PREFIX
}
