/** Lists every served kind, for discovery and OpenAPI. Handlers import only their own kind. */
import type { ServedKind } from '../registry/kind.ts'
import { SelfSubjectReview } from './authentication/v1/selfsubjectreview.ts'
import { TokenReview } from './authentication/v1/tokenreview.ts'
import { SelfSubjectAccessReview } from './authorization/v1/selfsubjectaccessreview.ts'
import { SelfSubjectRulesReview } from './authorization/v1/selfsubjectrulesreview.ts'
import { SubjectAccessReview } from './authorization/v1/subjectaccessreview.ts'
import { OwnedAccessKeyAccessReview } from './management/v1/accessreview/ownedaccesskeyaccessreview.ts'
import { DirectClusterEndpointToken } from './management/v1/directclusterendpointtoken.ts'
import { FederatedIdentityCredential } from './management/v1/federation/federatedidentitycredential.ts'
import { IdentityProvider } from './management/v1/federation/identityprovider.ts'
import { OwnedAccessKey } from './management/v1/ownedaccesskey.ts'
import { AccessKeyRevocation } from './management/v1/revocation/accesskeyrevocation.ts'
import { OwnedAccessKeyRotation } from './management/v1/rotation/ownedaccesskeyrotation.ts'
import { Self } from './management/v1/self.ts'
import { VirtualClusterInstance } from './management/v1/virtualclusterinstance.ts'
import { VirtualClusterInstanceKubeConfig } from './management/v1/virtualclusterinstancekubeconfig.ts'

/** The kinds of this API's own group come first, and each resource comes before its subresources. */
export const kinds: readonly ServedKind[] = [
  OwnedAccessKey,
  OwnedAccessKeyRotation,
  OwnedAccessKeyAccessReview,
  AccessKeyRevocation,
  FederatedIdentityCredential,
  IdentityProvider,
  VirtualClusterInstance,
  VirtualClusterInstanceKubeConfig,
  DirectClusterEndpointToken,
  Self,
  SelfSubjectReview,
  TokenReview,
  SelfSubjectAccessReview,
  SelfSubjectRulesReview,
  SubjectAccessReview,
]
