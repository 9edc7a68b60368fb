/**
 * Resolves the kind of an owner reference, as the mapper of kube-apiserver does for its garbage collector and for admission. The
 * mapper knows each kind also in lower case, and as the kind of its lists, of which no object is ever found.
 * Source: k8s.io/client-go restmapper/discovery.go.
 */
import { groupVersion } from '../meta/groupversion.ts'
import type { OwnerReference } from '../meta/types.ts'
import type { KindInfo } from './kind.ts'

type Kind = Pick<KindInfo, 'group' | 'version' | 'kind' | 'scope'>

/** Reports whether the reference names this kind. */
export const namesKind = (kind: Kind, { apiVersion, kind: name }: OwnerReference): boolean =>
  groupVersion(kind) === apiVersion && (name === kind.kind || name === kind.kind.toLowerCase())

/** Reports whether the reference names lists of this kind, or of any kind of its version. The latter are in no namespace. */
export const namesLists = (kind: Kind, { apiVersion, kind: name }: OwnerReference, namespace: string): boolean =>
  groupVersion(kind) === apiVersion &&
  (name === 'List' || (name === `${kind.kind}List` && (kind.scope === 'Cluster' || namespace !== '')))
