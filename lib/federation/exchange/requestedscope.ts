/** Reads the parameter `scope` of an exchange as a scope of an access key, which narrows the scopes of the trust. */
import type { Scope } from '../../access/scopes/scope.ts'
import { validateScope } from '../../access/scopes/validatescope.ts'
import { holdsCredential } from '../../engine/meta/value/credentialtext.ts'
import { OAuthError, quoteValue } from '../oauth/oautherror.ts'

/** Returns the entry that a part of the scope adds. `first` and `second` are its names, separated by a slash. */
const forms: Readonly<Record<string, { form: string; read(first: string, second: string | undefined): Scope }>> = {
  project: { form: 'project:PROJECT', read: (project) => ({ projects: [{ project }] }) },
  space: { form: 'space:PROJECT/SPACE', read: (project, space = '') => ({ spaces: [{ project, space }] }) },
  virtualcluster: {
    form: 'virtualcluster:PROJECT/NAME',
    read: (project, virtualCluster = '') => ({ virtualClusters: [{ project, virtualCluster }] }),
  },
  cluster: { form: 'cluster:CLUSTER', read: (cluster) => ({ clusters: [{ cluster }] }) },
  role: { form: 'role:ROLE', read: (role) => ({ roles: [{ role }] }) },
}

const known = Object.values(forms).map(({ form }) => form)
const maxParts = 64

/** Returns the error for a scope that cannot be granted. */
export const invalidScope = (description: string): OAuthError => new OAuthError('invalid_scope', 'scope', description)

/** The characters of RFC 6749 section 3.3. */
const SCOPE = /^[ !\x23-\x5b\x5d-\x7e]+$/

/** Returns the scope that a text such as `project:shop cluster:prod` asks for. Throws invalid_scope. */
export function parseRequestedScope(text: string): Scope {
  if (!SCOPE.test(text) || holdsCredential(text))
    throw invalidScope('the scope has invalid characters, or a credential')
  const parts = text.split(' ').filter((part) => part !== '')
  if (parts.length === 0) throw invalidScope('the scope is empty')
  if (parts.length > maxParts) throw invalidScope(`the scope has more than ${maxParts} parts`)
  const scopes = parts.map(parsePart)
  const lists = Map.groupBy(scopes.flatMap(Object.entries), ([member]) => member)
  return Object.fromEntries([...lists].map(([member, entries]) => [member, entries.flatMap(([, list]) => list)]))
}

function parsePart(part: string): Scope {
  const at = part.indexOf(':')
  const form = Object.hasOwn(forms, part.slice(0, at)) ? forms[part.slice(0, at)] : undefined
  const [first = '', second, ...more] = part.slice(at + 1).split('/')
  const isPair = form?.form.includes('/') === true
  if (!form || first === '' || more.length > 0 || isPair !== (second !== undefined))
    throw invalidScope(`the scope ${quoteValue(part)} is not known; known forms are ${known.join(', ')}`)
  const scope = form.read(first, second)
  const [problem] = validateScope(scope)
  if (problem) throw invalidScope(`the scope ${quoteValue(part)} is not valid`)
  return scope
}
