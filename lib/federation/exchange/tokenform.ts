/** Negotiates the form in which the token endpoint sends a credential. */
import {
  acceptedType,
  clauses,
  type ExecVersion,
  execVersion,
  type Headers,
  typeParameters,
} from '../../engine/endpoints/negotiation/accept.ts'

export type TokenForm = 'json' | 'text' | 'kubeConfig' | { execCredential: ExecVersion }

/** Returns the form in which the token endpoint sends a credential, or undefined when no clause can be served. */
export function negotiateToken({ accept = '' }: Headers): TokenForm | undefined {
  for (const clause of clauses(accept.trim() || '*/*')) {
    if (clause.type === 'text' && clause.subtype === 'plain') return 'text'
    const mediaType = acceptedType(clause)
    if (mediaType === 'application/yaml' && typeParameters(clause).join() === 'KubeConfig,,') return 'kubeConfig'
    if (mediaType !== 'application/json') continue
    if (typeParameters(clause).every((value) => value === '')) return 'json'
    const execCredential = execVersion(clause)
    if (execCredential) return { execCredential }
  }
  return undefined
}
