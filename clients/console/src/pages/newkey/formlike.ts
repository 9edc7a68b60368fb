/** Fills the form of a new key with what another key is. */
import { eachKeyText } from '../../../../../lib/keys/ownedaccesskey.texts.ts'
import type { AccessKey, Self } from '../../../../core/src/objects.ts'
import { withoutMark } from '../../../../core/src/sessions.ts'
import { rowsOfScope } from '../../components/scope/scoperows.ts'
import { choiceOf } from '../../text/lifetimechoice.ts'
import { emptyForm, type Form, namedKind, type OwnerKind, ownGroups } from './form.ts'

/** Labels of the server, which says with them where a key came from. */
const OF_SERVER = 'management.platform/'

/**
 * Returns the form of a key like this one, without a name. Of its groups it has those that the form shows. A scope that the form cannot
 * show is empty, and has to be chosen.
 */
export function formLike(key: AccessKey, self: Self): Form {
  const { metadata, spec } = key
  const labels = Object.entries(metadata.labels ?? {}).filter(([name]) => !name.startsWith(OF_SERVER))
  return {
    ...emptyForm,
    ...eachKeyText(({ name }) => spec[name] ?? ''),
    ...ownerOf(key, self),
    labels: withoutMark(Object.fromEntries(labels)),
    groups: ownGroups(self).filter((group) => spec.groups?.includes(group)),
    isScoped: spec.scope !== undefined,
    rows: (spec.scope && rowsOfScope(spec.scope)) ?? emptyForm.rows,
    ...choiceOf(spec.ttl),
    isFromLastUse: spec.ttlAfterLastActivity === true,
    sources: (spec.sourceCIDRs ?? []).join('\n'),
  }
}

/** Reports whether the form cannot show the scope of the key. */
export const hasOtherScope = ({ spec }: AccessKey): boolean =>
  spec.scope !== undefined && rowsOfScope(spec.scope) === undefined

/** The spec of a key that somebody made for themselves names no owner, but its status does. */
function ownerOf({ spec, status }: AccessKey, self: Self): { ownerKind: OwnerKind; owner: string } {
  const named = namedKind(spec)
  const [, prefix = 'user', rest = ''] = /^(?:(team|subject):)?(.*)$/s.exec(status?.owner ?? '') ?? []
  const [kind, name] = named ? [named, spec[named] ?? ''] : [prefix as OwnerKind, rest]
  const { user, team, subject } = self
  const own = user ? ['user', user.name] : team ? ['team', team.name] : ['subject', subject]
  const isOwn = name === '' || (kind === own[0] && name === own[1])
  return isOwn ? { ownerKind: 'self', owner: '' } : { ownerKind: kind, owner: name }
}
