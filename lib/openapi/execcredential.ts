/** Describes an ExecCredential as another form of an answer, which clients ask for by its media type. */
import { bodyTypes, EXEC_CREDENTIAL_PARAMETERS } from '../endpoints/negotiation/mediatypes.ts'
import { object, string, time } from '../meta/schema/schema.ts'
import type { JsonObject } from '../meta/types.ts'
import { openApiSchema } from './openapischema.ts'

const schema = object('The issued credential alone, as clients of Kubernetes read it from credential plugins.', {
  apiVersion: string('Version of this representation: client.authentication.k8s.io/v1.'),
  kind: string('Kind of this representation: ExecCredential.'),
  status: object('The credential: a token, or a certificate with its key.', {
    expirationTimestamp: time('Time when the credential expires.'),
    token: string('The token.'),
    clientCertificateData: string('The client certificate, in PEM.'),
    clientKeyData: string('The key of the client certificate, in PEM.'),
  }),
})

/** Returns the entries of an operation's `content`. */
export const execCredentialContent = (): JsonObject =>
  Object.fromEntries(
    Object.keys(bodyTypes).map((type) => [`${type};${EXEC_CREDENTIAL_PARAMETERS}`, { schema: openApiSchema(schema) }]),
  )
