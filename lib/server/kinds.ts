/**
 * What the server has to know of all kinds: a bundle has only some of them, so it is said here, and `test/agreement.test.ts`
 * compares it with `lib/apis/index.ts`.
 */
import { OwnedAccessKey } from '../apis/management/v1/ownedaccesskey.ts'
import type { Services } from '../apis/management/v1/services.ts'
import { VirtualClusterInstance } from '../apis/management/v1/virtualclusterinstance.ts'
import type { StoredKind } from '../registry/kind.ts'

/** Every stored kind: owners may be of any of them. */
export const storedKinds: readonly StoredKind<Services>[] = [OwnedAccessKey, VirtualClusterInstance]

/** Plural names of the kinds without a namespace. */
export const clusterScoped: ReadonlySet<string> = new Set([
  OwnedAccessKey.plural,
  'directclusterendpointtokens',
  'selves',
  'selfsubjectreviews',
  'tokenreviews',
  'selfsubjectaccessreviews',
  'selfsubjectrulesreviews',
  'subjectaccessreviews',
])

/** Plural names of the kinds whose objects are in one. */
export const namespaced: ReadonlySet<string> = new Set([VirtualClusterInstance.plural])
