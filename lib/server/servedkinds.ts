/** Lists every served kind, for discovery and OpenAPI. Handlers import only their own kind. */

import { ClusterKubeConfig } from '../clusters/clusterkubeconfig.ts'
import { DirectClusterEndpointToken } from '../clusters/directclusterendpointtoken.ts'
import { VirtualClusterInstanceKubeConfig } from '../clusters/virtualclusterinstancekubeconfig.ts'
import type { ServedKind } from '../engine/registry/kind.ts'
import { AccessKeyLookup } from '../keys/accesskeylookup.ts'
import { OwnedAccessKeyHistory } from '../keys/ownedaccesskeyhistory.ts'
import { OwnedAccessKeyRotation } from '../keys/ownedaccesskeyrotation.ts'
import { OwnedAccessKeyUsage } from '../keys/ownedaccesskeyusage.ts'
import { type KindName, kindRows } from '../kinds.ts'
import { OwnedAccessKeyAccessReview } from '../reviews/ownedaccesskeyaccessreview.ts'
import { Self } from '../reviews/self.ts'
import { SelfSubjectAccessReview } from '../reviews/selfsubjectaccessreview.ts'
import { SelfSubjectReview } from '../reviews/selfsubjectreview.ts'
import { SelfSubjectRulesReview } from '../reviews/selfsubjectrulesreview.ts'
import { SubjectAccessReview } from '../reviews/subjectaccessreview.ts'
import { TokenReview } from '../reviews/tokenreview.ts'
import { AccessKeyRevocation } from '../revocation/accesskeyrevocation.ts'
import { stored } from './storedkinds.ts'

/** The kinds of the table by their names. */
const served: Readonly<Record<KindName, ServedKind>> = {
  ...stored,
  OwnedAccessKeyRotation,
  OwnedAccessKeyAccessReview,
  OwnedAccessKeyUsage,
  OwnedAccessKeyHistory,
  AccessKeyRevocation,
  AccessKeyLookup,
  VirtualClusterInstanceKubeConfig,
  ClusterKubeConfig,
  DirectClusterEndpointToken,
  Self,
  SelfSubjectReview,
  TokenReview,
  SelfSubjectAccessReview,
  SelfSubjectRulesReview,
  SubjectAccessReview,
}

/** The kinds in the order of the table. */
export const kinds: readonly ServedKind[] = kindRows.map(({ kind }) => served[kind])
