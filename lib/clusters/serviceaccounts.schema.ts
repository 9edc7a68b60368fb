/** Defines the field that kinds of clusters share whose service accounts issue the tokens. */
import { object, string } from '../engine/meta/schema/schema.ts'

export const serviceAccounts = object('Where the service accounts are. Only with tokens: ServiceAccounts.', {
  namespace: string('Namespace of the service accounts, which is for nothing else. Defaults to keyplane.', {
    maxLength: 63,
    reference: true,
  }),
})
