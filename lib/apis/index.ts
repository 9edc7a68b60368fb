/** Lists every served kind, for discovery and OpenAPI. Handlers import only their own kind. */

import type { ServedKind } from '../engine/registry/kind.ts'
import { type KindName, kindRows } from '../kinds/kinds.ts'
import { SelfSubjectReview } from './authentication/v1/selfsubjectreview.ts'
import { TokenReview } from './authentication/v1/tokenreview.ts'
import { SelfSubjectAccessReview } from './authorization/v1/selfsubjectaccessreview.ts'
import { SelfSubjectRulesReview } from './authorization/v1/selfsubjectrulesreview.ts'
import { SubjectAccessReview } from './authorization/v1/subjectaccessreview.ts'
import { OwnedAccessKeyAccessReview } from './management/v1/accessreview/ownedaccesskeyaccessreview.ts'
import { ClusterKubeConfig } from './management/v1/clusterkubeconfig.ts'
import { DirectClusterEndpointToken } from './management/v1/directclusterendpointtoken.ts'
import { OwnedAccessKeyHistory } from './management/v1/history/ownedaccesskeyhistory.ts'
import { AccessKeyLookup } from './management/v1/lookup/accesskeylookup.ts'
import { AccessKeyRevocation } from './management/v1/revocation/accesskeyrevocation.ts'
import { OwnedAccessKeyRotation } from './management/v1/rotation/ownedaccesskeyrotation.ts'
import { Self } from './management/v1/self.ts'
import { OwnedAccessKeyUsage } from './management/v1/usage/ownedaccesskeyusage.ts'
import { VirtualClusterInstanceKubeConfig } from './management/v1/virtualclusterinstancekubeconfig.ts'
import { stored } from './stored.ts'

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
